#include "client/cli/add/server_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "client/cli/add/added_files.h"
#include "client/cli/add/authorization.h"
#include "client/cli/add/bundle_manifest.h"
#include "client/cli/add/image_config.h"
#include "client/cli/add/image_proposal.h"
#include "client/cli/add/remote_authorization.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/install/bundle_source.h"
#include "client/cli/install/registry_installer.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr unsigned readable = 0644;

PackageName package_of(const Origin& origin) {
  return {.registry = origin.registry, .name = origin.package, .version = {}};
}

// A command of an image is a path in it, which is the same in each version.
Result<std::string> script_in(const std::string& directory, const Origin& origin) {
  if (origin.registry == Registry::image) return std::string();
  if (origin.registry == Registry::bundle) {
    return script_of(CELLBLOCK_TRY(manifest_in(directory)), directory);
  }
  const auto installed = this_machine().installed(directory, package_of(origin));
  if (installed) return installed->entry;
  return fail(fmt::format("{} is not in {}", safe_line(origin.package), safe_line(directory)));
}

struct Change {
  std::string declaration;  ///< path
  std::string before;       ///< its text
  std::string after;
  Origin origin;  ///< as it is to be
};

Result<std::string> moved_text(const std::string& text, const Origin& from,
                               const std::string& directory) {
  MovedProgram program{.from = from.directory,
                       .to = directory,
                       .old_script = CELLBLOCK_TRY(script_in(from.directory, from)),
                       .new_script = CELLBLOCK_TRY(script_in(directory, from))};
  if (program.new_script.empty()) program.old_script.clear();
  return moved(text, program);
}

// "1.2.3-67a4adf5" ends with the digest of a lock file.
std::string version_of(const std::string& directory) {
  const auto name = fs::path(directory).filename().string();
  return name.substr(0, name.rfind('-'));
}

/// A version to change to.
struct OtherVersion {
  const std::string& directory;
  const InstallRecord& record;
};

Result<Change> change_to(const AddPlaces& places, const std::string& server, const Origin& origin,
                         const OtherVersion& other) {
  Change change{.declaration = declaration_of(places, server)};
  change.before = CELLBLOCK_TRY(bounded_file(change.declaration, max_import_bytes));
  change.after = CELLBLOCK_TRY(moved_text(change.before, origin, other.directory));
  change.origin = origin;
  change.origin.directory = other.directory;
  change.origin.version = version_of(other.directory);
  change.origin.record = other.record;
  change.origin.previous = origin.directory;
  change.origin.previous_record = origin.record;
  return change;
}

// What was tried and agreed to is the change of this text and of no other.
Result<void> check_unchanged(const Change& change) {
  const auto now = CELLBLOCK_TRY(bounded_file(change.declaration, max_import_bytes));
  if (now == change.before) return {};
  return fail(fmt::format("{} was changed meanwhile, so nothing was done: try again",
                          safe_line(change.declaration)));
}

// The old text comes back where the configuration is not usable with the new one.
Result<void> carry_out(const Work& work, const std::string& server, const Change& change) {
  CELLBLOCK_CHECK(check_unchanged(change));
  CELLBLOCK_CHECK(replace_file(change.declaration, change.after, readable));
  auto done = check_configuration(work.context, work.places, server);
  if (done) done = write_origin(work.places, server, change.origin);
  if (!done) CELLBLOCK_CHECK(replace_file(change.declaration, change.before, readable));
  return done;
}

Names difference(Names some, Names others) {
  std::ranges::sort(some);
  std::ranges::sort(others);
  Names left;
  std::ranges::set_difference(some, others, std::back_inserter(left));
  return left;
}

std::string tool_changes(const Names& listed, const Trial& trial) {
  if (trial.failure) return "its tools were not asked for: that needs its user's authorization\n";
  std::string text = tools_line(trial.tools) + "\n";
  if (listed.empty() || listed == Names{"*"}) return text;
  const auto fresh = difference(trial.tools, listed);
  const auto gone = difference(listed, trial.tools);
  if (!fresh.empty()) {
    text += fmt::format("new, and not allowed until allow.tools names them: {}\n",
                        safe_line(fmt::format("{}", fmt::join(fresh, ", "))));
  }
  if (!gone.empty()) {
    text += fmt::format("gone: {}\n", safe_line(fmt::format("{}", fmt::join(gone, ", "))));
  }
  return text;
}

// Only what is a version of that server: origin.json is a file like any other.
void remove_version(const AddPlaces& places, const std::string& server,
                    const std::string& directory) {
  std::error_code ignored;
  const bool is_version = fs::path(directory).parent_path() == directory_of(places, server) &&
                          fs::path(directory).filename() != "..";
  if (is_version) fs::remove_all(directory, ignored);
}

// What a version itself says that starts it: an image's configuration, a bundle's manifest.
Names start_words(const Origin& origin, const std::string& directory) {
  if (origin.registry == Registry::image) {
    const auto image = unpacked_image(directory);
    return image ? started_by(image->config) : Names{};
  }
  const auto manifest = manifest_in(directory);
  return manifest ? manifest->server.command : Names{};
}

// The declaration keeps what it says: an administrator has perhaps changed it.
std::string entry_changes(const Origin& origin, const std::string& directory) {
  if (origin.registry != Registry::image && origin.registry != Registry::bundle) return {};
  const auto before = start_words(origin, origin.directory);
  const auto after = start_words(origin, directory);
  if (before == after || before.empty() || after.empty()) return {};
  return fmt::format(
      "its {} is now started by \"{}\", before by \"{}\": in the declaration, `command` gets "
      "its new directory, and stays as it is otherwise\n",
      origin.registry == Registry::image ? "image" : "bundle",
      safe_line(fmt::format("{}", fmt::join(after, " "))),
      safe_line(fmt::format("{}", fmt::join(before, " "))));
}

// What it asks for and did not before has no value in the declaration.
std::string setting_changes(const Origin& origin, const std::string& directory) {
  if (origin.registry != Registry::bundle) return {};
  const auto before = manifest_in(origin.directory);
  const auto after = manifest_in(directory);
  if (!before || !after) return {};
  Names fresh;
  for (const auto& setting : after->settings) {
    const bool is_new = std::ranges::find(before->settings, setting.key, &BundleSetting::key) ==
                        before->settings.end();
    if (is_new) fresh.push_back(setting.key);
  }
  if (fresh.empty()) return {};
  return fmt::format(
      "it asks for more than before: {} (to give it: `cellblock remove`, then `cellblock add "
      "--set`)\n",
      safe_line(fmt::format("{}", fmt::join(fresh, ", "))));
}

Result<Trial> try_change(const Work& work, const std::string& server, const Origin& origin,
                         const Change& change) {
  // Not with what its home has renewed since: a token that was used up would end the others too.
  const auto table = without_secret(change.after, authorization_variable);
  auto trial = CELLBLOCK_TRY(try_declaration(work, server, table));
  const bool is_held_back = table != change.after && needs_authorization(trial);
  if (!trial.failure || is_held_back) return trial;
  return fail(fmt::format("{} does not start, {} stays: {}\n{}", change.origin.version,
                          origin.version, safe_text(trial.failure->text), refused_lines(trial)));
}

Result<void> ask_for(const Work& work, const std::string& server, bool agreed,
                     const Interruption& interruption) {
  if (!agreed && !agrees(interruption, fmt::format("Update \"{}\"?", server))) {
    return fail("nothing was changed");
  }
  if (work.stop.stop_requested()) return fail("interrupted: nothing was changed");
  return {};
}

Result<void> remove_path(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  return fail(fmt::format("{}: {}", safe_line(path), error.message()));
}

Result<void> remove_versions(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename() != "origin.json") CELLBLOCK_CHECK(remove_path(entry.path()));
  }
  return {};
}

}  // namespace

namespace {

std::string changes_of(const Origin& origin, const InstalledVersion& version, const Names& listed,
                       const Trial& trial) {
  return fmt::format("{} -> {}\n{}{}{}{}", origin.version, version.version(),
                     entry_changes(origin, version.directory()),
                     setting_changes(origin, version.directory()), tool_changes(listed, trial),
                     refused_lines(trial));
}

Result<void> check_same_bundle(const Origin& origin, const BundleManifest& manifest,
                               const std::string& bundle) {
  if (manifest.name == origin.package) return {};
  return fail(fmt::format("{} is the bundle \"{}\", and the server was added from \"{}\"",
                          safe_line(bundle), safe_line(manifest.name), safe_line(origin.package)));
}

// Of the version that is to be installed.
Result<PackageInstaller> installer_of(const Work& work, const Origin& origin,
                                      const std::string& bundle) {
  if (origin.registry != Registry::bundle) {
    if (!bundle.empty()) return fail("FILE is for servers that were added from a bundle");
    return installer_for(package_of(origin), {.named = for_any_host(origin.private_addresses)});
  }
  const auto manifest = CELLBLOCK_TRY(manifest_of_archive(bundle));
  CELLBLOCK_CHECK(check_same_bundle(origin, manifest, bundle));
  return bundle_installer(bundle, work.scratch);
}

// Another program unpacked it, later than it was read, and perhaps took another manifest from it.
Result<void> check_unpacked(const Origin& origin, const std::string& directory,
                            const std::string& bundle) {
  if (bundle.empty()) return {};
  return check_same_bundle(origin, CELLBLOCK_TRY(manifest_in(directory)), bundle);
}

// Why there is no other version to install; empty: there may be one.
std::string nothing_to_install(const Origin& origin, const std::string& server,
                               const std::string& bundle) {
  if (origin.package.empty()) {
    return "is no package of npm or PyPI, no image and no bundle: nothing to update";
  }
  if (origin.registry != Registry::bundle || !bundle.empty()) return {};
  return fmt::format("is a bundle: `cellblock update {} FILE` takes a newer one", server);
}

// None: it is the one that runs now.
Result<std::optional<InstalledVersion>> install_other(const Work& work, const std::string& server,
                                                      const Origin& origin,
                                                      const std::string& bundle) {
  const auto installer = CELLBLOCK_TRY(installer_of(work, origin, bundle));
  tell(work.context,
       fmt::format("{}: installing the {} {}", server,
                   bundle.empty() ? "newest" : "other version of", safe_line(origin.package)));
  const auto scripts = origin.runs_scripts ? InstallScripts::run : InstallScripts::left_out;
  return install_version(work, server, origin, package_of(origin), installer, scripts);
}

}  // namespace

Result<UpdateOutcome> update_server(const Work& work, const std::string& server,
                                    const UpdateOptions& options,
                                    const Interruption& interruption) {
  const auto origin = CELLBLOCK_TRY(origin_of(work.places, server));
  if (auto why = nothing_to_install(origin, server, options.bundle); !why.empty()) {
    return UpdateOutcome{std::move(why)};
  }
  auto version = CELLBLOCK_TRY(install_other(work, server, origin, options.bundle));
  if (!version) {
    return UpdateOutcome{fmt::format("{} is {}", origin.version,
                                     options.bundle.empty() ? "the newest" : "installed already")};
  }
  CELLBLOCK_CHECK(check_unpacked(origin, version->directory(), options.bundle));
  auto change = CELLBLOCK_TRY(
      change_to(work.places, server, origin, {version->directory(), version->record()}));
  if (!options.bundle.empty()) change.origin.command = {options.bundle};
  const auto trial = CELLBLOCK_TRY(try_change(work, server, origin, change));
  const auto listed = CELLBLOCK_TRY(listed_tools(change.before, server));
  tell(work.context, fmt::format("{}: {}", server, changes_of(origin, *version, listed, trial)));
  CELLBLOCK_CHECK(ask_for(work, server, options.agrees, interruption));
  CELLBLOCK_CHECK(carry_out(work, server, change));
  version->keep();
  if (origin.previous != version->directory()) {
    remove_version(work.places, server, origin.previous);
  }
  return UpdateOutcome{
      fmt::format("{} -> {}; definitions that changed are withheld until `cellblock approve allow "
                  "{}`; `cellblock update --rollback {}` takes it back",
                  origin.version, version->version(), server, server),
      true};
}

Result<UpdateOutcome> roll_back_server(const Work& work, const std::string& server) {
  const auto origin = CELLBLOCK_TRY(origin_of(work.places, server));
  if (origin.previous.empty()) return fail("no version before this one is kept");
  const auto change = CELLBLOCK_TRY(
      change_to(work.places, server, origin, {origin.previous, origin.previous_record}));
  CELLBLOCK_CHECK(carry_out(work, server, change));
  return UpdateOutcome{fmt::format("{} -> {}", origin.version, change.origin.version), true};
}

// Its origin last: as long as it is there, what is left can be removed by trying again.
Result<ReloadOutcome> remove_server(const Context& context, const AddPlaces& places,
                                    const std::string& server) {
  CELLBLOCK_CHECK(origin_of(places, server));
  const auto declaration = declaration_of(places, server);
  const auto text = bounded_file(declaration, max_import_bytes).value_or("");
  const auto secrets = secret_files_in(text, server, places.secrets).value_or(Names{});
  CELLBLOCK_CHECK(remove_path(declaration));
  auto reloaded = reload_daemon(context, places);
  for (const auto& file : secrets) CELLBLOCK_CHECK(remove_path(file));
  CELLBLOCK_CHECK(remove_versions(directory_of(places, server)));
  CELLBLOCK_CHECK(remove_path(directory_of(places, server)));
  return reloaded;
}

}  // namespace cellblock::cli
