#include "client/cli/add/new_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/add/added_files.h"
#include "client/cli/add/bundle_manifest.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/install/image_source.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/package_install.h"
#include "client/cli/install/program_output.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_trial = 60s;
constexpr auto between_polls = 100ms;
// A cell ends after its session; what its egress helper has to say comes with its end.
constexpr int most_polls = 30;
// Cellblock's own, in every list.
constexpr std::string_view own_tool = "cellblock_read_result";

client::Result<std::vector<std::string>> tools_of(const PrivateDaemon& daemon,
                                                  const std::string& server,
                                                  const std::stop_token& stop) {
  auto client = CELLBLOCK_TRY(open_server(daemon.context(), server, {}, longest_trial));
  const auto listed = CELLBLOCK_TRY(client.list_tools({.timeout = longest_trial, .stop = stop}));
  std::vector<std::string> names;
  names.reserve(listed.size());
  for (const auto& tool : listed) {
    if (tool.name != own_tool) names.push_back(tool.name);
  }
  return names;
}

}  // namespace

client::Result<std::vector<RefusedOperation>> refusals_of(WatchedServer& watched) {
  for (int polls = 0; polls < most_polls; ++polls) {
    const auto state = CELLBLOCK_TRY(watched.state());
    if (state.cells == 0) break;
    watched.wait(between_polls);
  }
  Observed observed;
  CELLBLOCK_CHECK(watched.read_refusals(observed));
  return observed.operations();
}

client::Result<Trial> try_server(const PrivateDaemon& daemon, const std::string& server,
                                 const std::stop_token& stop) {
  auto watched = CELLBLOCK_TRY(WatchedServer::open(daemon.context(), server));
  Trial trial;
  auto tools = tools_of(daemon, server, stop);
  if (tools) {
    trial.tools = *std::move(tools);
  } else {
    trial.failure = std::move(tools.error());
  }
  trial.refused = CELLBLOCK_TRY(refusals_of(watched));
  return trial;
}

namespace {

namespace fs = std::filesystem;

// As it is written in names of directories.
Result<std::string> short_digest(const std::string& file) {
  constexpr std::size_t shown_bytes = 4;
  const auto text = CELLBLOCK_TRY(bounded_file(file, most_lock_bytes));
  const Sha256 digest = sha256(text);
  return hex_text(std::span(digest).first<shown_bytes>());
}

// What it says of itself becomes a part of a path.
Result<std::string> version_in(const std::string& tree, const PackageName& package) {
  const auto installed = this_machine().installed(tree, package);
  if (!installed) {
    return fail(fmt::format(
        "{} has no program to start (allowed: one of its name, or one alone, of a package that was "
        "installed once)",
        safe_line(package.name)));
  }
  const auto named = package_named(package.registry, package.name + "@" + installed->version);
  if (!named || named->version.empty()) {
    return fail(fmt::format("{} has no version that can be named", safe_line(package.name)));
  }
  return named->version;
}

// "sha256-" and the beginning of the digest that the registry has it by.
Result<std::string> version_of_image(const std::string& tree) {
  constexpr std::string_view beginning = "sha256:";
  constexpr std::size_t shown_digits = 12;
  const auto lock = CELLBLOCK_TRY(bounded_file(tree + "/image.lock", max_import_bytes));
  const auto digits = lock.substr(0, lock.find_first_of(":\n") + 1) == beginning
                          ? lock.substr(beginning.size(), shown_digits)
                          : std::string();
  const bool is_digest = digits.size() == shown_digits &&
                         digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_digest) return fail("the image has no digest");
  return "sha256-" + digits;
}

Result<std::string> version_of_tree(const std::string& tree, const PackageName& package) {
  if (package.registry == Registry::image) return version_of_image(tree);
  if (package.registry == Registry::bundle) return CELLBLOCK_TRY(manifest_in(tree)).version;
  return version_in(tree, package);
}

// "PATH:LINE" is said of every rule.
std::string without_places(std::string text, const std::string& path) {
  for (auto at = text.find(", " + path); at != std::string::npos; at = text.find(", " + path)) {
    const auto end = text.find_first_of(")\n", at);
    text.erase(at, end == std::string::npos ? end : end - at);
  }
  return text;
}

// A package that has such a file at its own top is not what it should be.
Result<void> add_start_file(const std::string& tree) {
  const auto file = tree + "/" + remote_start_file;
  CELLBLOCK_CHECK(write_new_file(file, std::string(remote_start_script)));
  std::error_code error;
  fs::permissions(file, fs::perms{0644}, error);
  if (error) return fail(fmt::format("{}: {}", safe_line(file), error.message()));
  return {};
}

// They are read as root, and what made them is not trusted: none may be a link.
bool has_parts_of_image(const std::string& tree) {
  std::error_code error;
  const auto is_file = [&](const char* name) {
    return fs::is_regular_file(fs::symlink_status(tree + name, error));
  };
  return is_file("/image.json") && is_file("/image.lock") &&
         fs::is_directory(fs::symlink_status(tree + "/rootfs", error));
}

void tell_notes(const Work& work, const PackageName& package, const RegistryReport& report) {
  for (const auto& note : notes_of(report, registry_in_words(package.registry), package.name)) {
    tell(work.context, note);
  }
}

// Whoever wrote it expects another version than the one that is installed.
void tell_range(const Context& context, const PackageName& package) {
  if (package.range.empty()) return;
  tell(context,
       fmt::format(
           "{}: \"{}\" is a range or a tag, and is left out: the newest version is "
           "installed; for another one write its number, as in {}",
           package.name, cut_to(safe_line(package.range), 80),
           pinned({.registry = package.registry, .name = package.name, .version = "1.2.3"})));
}

}  // namespace

Result<std::string> wanted_of(const PackageName& package) {
  if (package.registry == Registry::image) {
    return CELLBLOCK_TRY(image_source(package.name)).reference;
  }
  return package.version.empty() ? package.name : pinned(package);
}

const char* registry_in_words(Registry registry) {
  return registry == Registry::pypi ? "the index" : "the registry";
}

InstalledVersion::InstalledVersion(InstalledVersion&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      version_(std::move(other.version_)),
      record_(std::move(other.record_)),
      is_kept_(other.is_kept_) {}

InstalledVersion::~InstalledVersion() {
  std::error_code ignored;
  if (is_kept_ || directory_.empty()) return;
  fs::remove_all(directory_, ignored);
  fs::remove(fs::path(directory_).parent_path(), ignored);  // where nothing else is in it
}

Result<std::optional<InstalledVersion>> install_version(const Work& work, const std::string& server,
                                                        const Origin& current,
                                                        const PackageName& package,
                                                        const PackageInstaller& installer,
                                                        InstallScripts scripts) {
  constexpr unsigned listed = 0755;
  tell_range(work.context, package);
  const auto wanted = CELLBLOCK_TRY(wanted_of(package));
  const auto tree = CELLBLOCK_TRY(install_package(work.context, work.places, work.scratch,
                                                  installer, {wanted, scripts}, work.stop));
  tell_notes(work, package, tree.report);
  // Nobody but us changes the copy: what is read of it stays so.
  const auto fresh = work.scratch.path("tree");
  const bool is_image = package.registry == Registry::image;
  CELLBLOCK_CHECK(copy_tree(tree.directory, fresh, is_image ? TreeKind::image : TreeKind::package));
  if (is_image && !has_parts_of_image(fresh)) return fail("what was unpacked is no image");
  if (is_remote(PackageRun{.package = package})) CELLBLOCK_CHECK(add_start_file(fresh));
  if (!installer.lock_text.empty()) {
    CELLBLOCK_CHECK(write_new_file(fresh + "/" + installer.lock, installer.lock_text));
  }
  const auto version = CELLBLOCK_TRY(version_of_tree(fresh, package));
  const auto digest = CELLBLOCK_TRY(short_digest(fresh + "/" + installer.lock));
  const auto parent = directory_of(work.places, server);
  const auto directory = fmt::format("{}/{}-{}", parent, version, digest);
  if (directory == current.directory) return std::nullopt;
  InstalledVersion installed(directory, version, record_of(tree.report));
  std::error_code error;
  if (directory == current.previous && fs::exists(directory, error)) {
    installed.keep();
    return std::optional<InstalledVersion>(std::move(installed));
  }
  fs::remove_all(directory, error);  // of an update that was killed
  CELLBLOCK_CHECK(make_place(parent, listed));
  fs::rename(fresh, directory, error);
  if (error) return fail(fmt::format("{}: {}", safe_line(directory), error.message()));
  return std::optional<InstalledVersion>(std::move(installed));
}

std::string rule_for_trial(const std::string& server) {
  return fmt::format("\n[[server.{}.rule]]\neffect = \"allow\"\nusers = [{}]\ntools = [\"*\"]\n",
                     server, ::geteuid());
}

Result<Trial> try_declaration(const Work& work, const std::string& server,
                              const std::string& table) {
  auto text = CELLBLOCK_TRY(private_daemon_toml(work.places, work.scratch.root()));
  text += "\n" + table + rule_for_trial(server);
  const auto daemon =
      CELLBLOCK_TRY(PrivateDaemon::start(work.context, work.scratch, text, work.stop));
  auto trial = try_server(daemon, server, work.stop);
  if (!trial) return fail(safe_text(trial.error().text));
  return *std::move(trial);
}

Result<std::string> explained(const Work& work, const std::string& server,
                              const std::string& table) {
  const auto file = work.scratch.path("explained.toml");
  const auto text = CELLBLOCK_TRY(private_daemon_toml(work.places, work.scratch.root()));
  std::error_code ignored;
  fs::remove(file, ignored);
  CELLBLOCK_CHECK(write_new_file(file, text + "\n" + table));
  auto words = daemon_words(work.context, file);
  words.emplace_back("--explain");
  words.push_back(server);
  const auto output = CELLBLOCK_TRY(output_of(words, Errors::caught));
  if (output.status == 0) return without_places(chosen_lines(output.text), file);
  return fail(
      fmt::format("cellblockd cannot say what its cell may do:\n{}", safe_text(output.text)));
}

std::string chosen_lines(const std::string& report) {
  constexpr std::string_view sections[] = {"files",   "network",      "variables",
                                           "secrets", "who may call", "weakened"};
  std::string text;
  bool is_chosen = false;
  for (std::size_t at = 0; at < report.size();) {
    const auto end = std::min(report.find('\n', at), report.size());
    const std::string_view line(report.data() + at, end - at);
    const bool begins_section = line.size() > 2 && line.starts_with("  ") && line[2] != ' ';
    if (begins_section) {
      is_chosen = std::ranges::any_of(sections,
                                      [&](auto name) { return line.substr(2).starts_with(name); });
    }
    if (is_chosen) text.append(line).append("\n");
    at = end + 1;
  }
  return text;
}

std::string tools_line(const std::vector<std::string>& tools) {
  constexpr std::size_t shown = 12;
  std::vector<std::string> names;
  for (const auto& tool : tools) {
    if (names.size() < shown) names.push_back(safe_line(tool));
  }
  return fmt::format("{} tool{}: {}{}", tools.size(), tools.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), tools.size() > shown ? ", ..." : "");
}

std::string refused_lines(const Trial& trial) {
  std::string text;
  for (const auto& one : trial.refused) {
    const bool is_egress = one.remedy.kind == Remedy::Kind::egress;
    const auto remedy = is_egress ? "--egress " + one.remedy.target : one.allow;
    text += fmt::format("  its cell was refused {}\n", safe_line(one.what));
    if (!remedy.empty()) text += fmt::format("    to allow it: {}\n", safe_line(remedy));
  }
  return text;
}

}  // namespace cellblock::cli
