#include "client/cli/add/addition.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/add/add_request.h"
#include "client/cli/add/added_files.h"
#include "client/cli/add/authorization.h"
#include "client/cli/add/bundle_manifest.h"
#include "client/cli/add/image_proposal.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/remote_authorization.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/install/bundle_source.h"
#include "client/cli/install/registry_installer.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

// What an addition left that was killed between installing and declaring. One that was finished is
// perhaps declared elsewhere by now.
Result<void> remove_remains(const AddPlaces& places, const std::string& server) {
  std::error_code ignored;
  const auto directory = directory_of(places, server);
  if (fs::exists(directory + "/origin.json", ignored)) {
    return fail(
        fmt::format("\"{0}\" was added before, and its declaration is gone from {1}: "
                    "`cellblock remove {0}` removes the rest",
                    server, safe_line(places.declarations)));
  }
  fs::remove_all(directory, ignored);
  return {};
}

// ---- secrets ----

struct Secret {
  std::string path;
  std::string value;
};

Result<std::vector<Secret>> secrets_of(const AddedServer& added, const Proposal& proposal) {
  std::vector<Secret> secrets;
  for (const auto& secret : proposal.secrets) {
    const auto found =
        std::ranges::find(added.declared.variables, secret.variable, &DeclaredVariable::name);
    if (found == added.declared.variables.end() || found->value.empty()) {
      return fail(fmt::format("{0} has no value: --env {0} takes it from your environment",
                              secret.variable));
    }
    secrets.push_back({.path = secret.file, .value = found->value});
  }
  return secrets;
}

// Those of the trial are where nobody but us gets to, and go with it.
Result<Proposal> with_scratch_secrets(const Scratch& scratch, Proposal proposal,
                                      const std::vector<Secret>& secrets, AddedFiles& files) {
  for (std::size_t at = 0; at < secrets.size(); ++at) {
    auto& file = proposal.secrets[at].file;
    file = scratch.path("secrets/" + proposal.secrets[at].variable);
    CELLBLOCK_CHECK(files.add_secret(file, secrets[at].value));
  }
  return proposal;
}

// ---- words ----

std::vector<std::string> host_arguments(const AddPlaces& places, const std::string& server) {
  std::vector<std::string> words;
  if (places.mode == Mode::user) words.emplace_back("--user");
  words.emplace_back("connect");
  words.push_back(server);
  return words;
}

// ---- the addition ----

struct Installed {
  std::optional<InstalledVersion> version;
  std::optional<Recipe> recipe;
  std::optional<ContainerRun> container;
  UnpackedImage image;  ///< with a container
  Origin origin;
};

Result<void> refuse_missing_secrets(const std::optional<Recipe>& recipe, const AddedServer& added) {
  const auto missing = recipe ? missing_secrets(*recipe, added.declared.variables) : std::string();
  if (missing.empty()) return {};
  return fail(
      fmt::format("it needs{} (before the --; a name alone takes the value from your "
                  "environment, NAME=VALUE gives it here)",
                  missing));
}

// Of a remote server by its host, and of https alone.
Result<std::optional<Recipe>> recipe_of_address(const PackageRun& run) {
  constexpr std::string_view usual_port = ":443";
  const auto address = CELLBLOCK_TRY(remote_address(address_in(run)));
  if (address.is_plain || !address.rule.ends_with(usual_port)) return std::nullopt;
  auto recipe = CELLBLOCK_TRY(recipe_for("https://" + address.host));
  const bool has_header =
      std::ranges::find(run.arguments, std::string("--header")) != run.arguments.end();
  if (!recipe || recipe->needs.empty() || has_header) return recipe;
  return fail(fmt::format("behind its address it needs {}", recipe->needs));
}

Result<std::optional<Recipe>> known_recipe(const PackageRun& run) {
  if (is_remote(run)) return recipe_of_address(run);
  if (run.package.registry != Registry::npm) return std::nullopt;
  auto recipe = CELLBLOCK_TRY(recipe_for(run.package.name));
  if (recipe) CELLBLOCK_CHECK(check_arguments(*recipe, run.arguments));
  return recipe;
}

void note_origin(const PackageName& package, Installed& installed) {
  installed.origin.registry = package.registry;
  installed.origin.package = package.name;
  installed.origin.version = installed.version->version();
  installed.origin.directory = installed.version->directory();
  installed.origin.record = installed.version->record();
}

Result<Installed> install(const Work& work, InstallScripts scripts, const PackageRun& run,
                          AddedServer& added) {
  const auto installer = CELLBLOCK_TRY(installer_for(run.package, added.private_addresses));
  Installed installed;
  if (const auto missing = missing_recipes(); !missing.empty()) {
    tell(work.context, safe_line(missing));
  }
  installed.recipe = CELLBLOCK_TRY(known_recipe(run));
  CELLBLOCK_CHECK(refuse_missing_secrets(installed.recipe, added));
  const bool runs_scripts = installer.has_scripts && scripts == InstallScripts::run;
  tell(work.context, fmt::format("installing {} in a cell that reaches {} alone{}",
                                 safe_line(run.package.name), safe_line(installer.reaches),
                                 runs_scripts ? "; then its scripts, without a network" : ""));
  auto version = CELLBLOCK_TRY(
      install_version(work, added.declared.name, {}, run.package, installer, scripts));
  if (!version) return fail("its directory is there already");
  installed.version.emplace(*std::move(version));
  note_origin(run.package, installed);
  std::ranges::copy(installer.runtime_paths, std::back_inserter(added.runtime_paths));
  return installed;
}

Result<Installed> install_image(const Work& work, const ContainerRun& run,
                                const AddedServer& added) {
  const PackageName package{.registry = Registry::image, .name = run.image, .version = {}};
  const auto installer = CELLBLOCK_TRY(installer_for(package, added.private_addresses));
  tell(
      work.context,
      fmt::format("fetching and unpacking {} in a cell that reaches {}", safe_line(run.image),
                  installer.reaches.empty() ? "nothing" : safe_line(installer.reaches) + " alone"));
  auto version = CELLBLOCK_TRY(
      install_version(work, added.declared.name, {}, package, installer, InstallScripts::left_out));
  if (!version) return fail("its directory is there already");
  Installed installed;
  installed.version.emplace(*std::move(version));
  note_origin(package, installed);
  installed.origin.private_addresses = installer.private_addresses;
  installed.container = run;
  installed.image = CELLBLOCK_TRY(unpacked_image(installed.version->directory()));
  return installed;
}

Result<Installed> install_bundle(const Work& work, const AddedServer& added) {
  const auto& bundle = *added.declared.bundle;
  if (bundle.archive.empty()) {
    return fail("a bundle is added packed: name its archive (.mcpb) in the place of its manifest");
  }
  const auto manifest = CELLBLOCK_TRY(read_bundle_manifest(bundle.manifest, bundle.archive));
  const auto installer = CELLBLOCK_TRY(bundle_installer(bundle.archive, work.scratch));
  tell(work.context, fmt::format("unpacking {} {} in a cell without a network",
                                 safe_line(manifest.name), safe_line(manifest.version)));
  const PackageName package{.registry = Registry::bundle, .name = manifest.name, .version = {}};
  auto version = CELLBLOCK_TRY(
      install_version(work, added.declared.name, {}, package, installer, InstallScripts::left_out));
  if (!version) return fail("its directory is there already");
  CELLBLOCK_CHECK(check_same_manifest(version->directory(), bundle.manifest));
  Installed installed;
  installed.version.emplace(*std::move(version));
  note_origin(package, installed);
  return installed;
}

Result<Installed> install_if_needed(const Work& work, InstallScripts scripts, AddedServer& added) {
  if (added.declared.bundle) return install_bundle(work, added);
  const auto container = CELLBLOCK_TRY(container_run(added.declared.command));
  if (container) return install_image(work, *container, added);
  const auto run = CELLBLOCK_TRY(package_run_of(added.declared));
  return run ? install(work, scripts, *run, added) : Result<Installed>(Installed{});
}

Result<Installed> install_what_it_runs(const Work& work, InstallScripts scripts,
                                       AddedServer& added) {
  auto installed = install_if_needed(work, scripts, added);
  if (!installed) return installed;
  const auto& bundle = added.declared.bundle;
  installed->origin.command =
      bundle ? std::vector<std::string>{bundle->archive} : added.declared.command;
  installed->origin.runs_scripts = scripts == InstallScripts::run;
  return installed;
}

Result<Proposal> proposal_of_image(const Work& work, const AddedServer& added,
                                   const Installed& installed) {
  const auto view = view_of_image(installed.image.root);
  const auto machine = this_machine();
  auto proposal = CELLBLOCK_TRY(
      image_proposal(added, *installed.container, installed.image,
                     {.view = view, .machine = machine, .secrets = work.places.secrets}));
  return with_requested_access(added, machine, std::move(proposal));
}

Result<Proposal> proposal_for(const Work& work, const AddedServer& added,
                              const Installed& installed) {
  if (installed.container) return proposal_of_image(work, added, installed);
  const Places places{
      .programs = work.places.servers,
      .secrets = work.places.secrets,
      .installed = installed.version ? installed.version->directory() : std::string()};
  auto marked = added;
  for (auto& variable : marked.declared.variables) {
    const auto* known = installed.recipe ? &installed.recipe->secrets : nullptr;
    variable.secret = variable.secret || (known != nullptr &&
                                          std::ranges::find(*known, variable.name) != known->end());
  }
  return added_proposal(marked, installed.recipe, this_machine(), places);
}

Result<void> declare_server(const Work& work, const std::string& server, const Proposal& proposal,
                            const std::vector<Secret>& secrets, Installed& installed) {
  AddedFiles files(work.places);
  CELLBLOCK_CHECK(files.make_main_file());
  for (const auto& secret : secrets) {
    CELLBLOCK_CHECK(files.add_secret(secret.path, secret.value));
  }
  // First: what is declared can then always be removed.
  CELLBLOCK_CHECK(files.add_directory(directory_of(work.places, server)));
  CELLBLOCK_CHECK(write_origin(work.places, server, installed.origin));
  files.take(directory_of(work.places, server) + "/origin.json");
  CELLBLOCK_CHECK(files.add_declaration(
      server, "# Made by `cellblock add`; change it as you like.\n" + server_toml(proposal)));
  CELLBLOCK_CHECK(check_configuration(work.context, work.places, server));
  if (installed.version) installed.version->keep();
  files.keep();
  return {};
}

Exit say_added(const Work& work, const std::string& server, const Origin& origin,
               const Trial& trial) {
  const Ordered entry{{"command", "cellblock"}, {"args", host_arguments(work.places, server)}};
  const auto reloaded = reload_daemon(work.context, work.places);
  const Exit exit = reloaded.is_failed ? Exit::error : Exit::ok;
  forget_pins(work.context, work.places, server);
  if (work.context.output == Output::json) {
    print_json(Ordered{{"server", server},
                       {"package", origin.package},
                       {"version", origin.version},
                       {"file", declaration_of(work.places, server)},
                       {"tools", trial.tools},
                       {"host", entry},
                       {"daemon", reloaded.words}}
                   .dump(-1, ' ', false, Ordered::error_handler_t::replace));
    return exit;
  }
  tell(work.context, fmt::format("declared in {}", safe_line(declaration_of(work.places, server))));
  tell(work.context, reloaded.words);
  tell(work.context,
       "for a host's configuration (`cellblock export HOST` writes it as the host wants it):");
  fmt::print("{}\n", entry.dump());
  return exit;
}

/// A server that is ready to be started.
struct Candidate {
  std::string server;
  Installed installed;
  Proposal proposal;
  std::vector<Secret> secrets;
  std::string authorized_in = {};  ///< the directory with what a person has allowed; empty: nothing
};

Result<Candidate> prepare(const Work& work, AddedServer added, const AddOptions& options) {
  CELLBLOCK_CHECK(check_requested_access(added, this_machine()));
  CELLBLOCK_CHECK(remove_remains(work.places, added.declared.name));
  auto installed = CELLBLOCK_TRY(install_what_it_runs(work, options.scripts, added));
  auto proposal = CELLBLOCK_TRY(proposal_for(work, added, installed));
  for (const auto& remark : proposal.remarks) {
    tell(work.context, "not taken over: " + safe_line(remark));
  }
  auto secrets = CELLBLOCK_TRY(secrets_of(added, proposal));
  return Candidate{.server = added.declared.name,
                   .installed = std::move(installed),
                   .proposal = std::move(proposal),
                   .secrets = std::move(secrets)};
}

// Its secrets stand there by the names of their files, which need not be there yet.
Result<void> show_access(const Work& work, const Candidate& candidate, Proposal proposal) {
  if (work.context.output != Output::human) return {};
  if (!candidate.authorized_in.empty()) {
    proposal.secrets.push_back({.variable = authorization_variable,
                                .file = authorization_file(work.places, candidate.server)});
  }
  fmt::print(stderr, "\n{}\n",
             safe_text(CELLBLOCK_TRY(explained(work, candidate.server, server_toml(proposal)))));
  return {};
}

Result<void> ask(const Work& work, const std::string& question, const Interruption& interruption) {
  if (!agrees(interruption, question)) return fail("nothing was changed");
  return work.stop.stop_requested() ? Result<void>(fail("interrupted: nothing was changed"))
                                    : Result<void>();
}

// Before its first start, where what it may do was not named by who adds it.
Result<void> ask_before_trial(const Work& work, const Candidate& candidate, const Proposal& tried,
                              const Interruption& interruption) {
  CELLBLOCK_CHECK(show_access(work, candidate, tried));
  return ask(work, fmt::format("Start \"{}\" with this, and add it if it works?", candidate.server),
             interruption);
}

Result<void> ask_after_trial(const Work& work, const Candidate& candidate, Consent consent,
                             const Interruption& interruption) {
  if (consent == Consent::after_trial) {
    return ask(work, fmt::format("Add \"{}\"?", candidate.server), interruption);
  }
  if (work.stop.stop_requested()) return fail("interrupted: nothing was changed");
  return {};
}

void show_trial(const Work& work, const Trial& trial) {
  if (work.context.output != Output::human) return;
  fmt::print(stderr, "{}\n{}", tools_line(trial.tools), refused_lines(trial));
}

Exit say_failure(const Work& work, const Trial& trial) {
  const Exit exit = explain(work.context, *trial.failure, {});
  fmt::print(stderr, "{}", refused_lines(trial));
  return exit;
}

Result<Trial> try_candidate(const Work& work, const Candidate& candidate, const Proposal& tried) {
  tell(work.context, "starting it once, to see whether it works and what it offers");
  const auto& directory = candidate.authorized_in;
  const auto table =
      server_toml(directory.empty() ? tried : with_authorization_in(directory, tried));
  return try_declaration(work, candidate.server, table);
}

// The secrets of the trial are gone by then.
Result<void> declare_tried(const Work& work, Candidate& candidate, const Trial& trial) {
  candidate.proposal.tools = allowed_tools(trial.tools);
  return declare_server(work, candidate.server, candidate.proposal, candidate.secrets,
                        candidate.installed);
}

// What became of the start; an error: whoever was asked said no.
Result<Trial> try_with_consent(const Work& work, const Candidate& candidate, Consent consent,
                               const Interruption& interruption) {
  AddedFiles scratch_files(work.places);
  auto tried = CELLBLOCK_TRY(
      with_scratch_secrets(work.scratch, candidate.proposal, candidate.secrets, scratch_files));
  if (consent == Consent::before_trial) {
    CELLBLOCK_CHECK(ask_before_trial(work, candidate, tried, interruption));
  }
  auto trial = CELLBLOCK_TRY(try_candidate(work, candidate, tried));
  if (trial.failure) return trial;
  show_trial(work, trial);
  tried.tools = allowed_tools(trial.tools);
  if (consent != Consent::before_trial) CELLBLOCK_CHECK(show_access(work, candidate, tried));
  CELLBLOCK_CHECK(ask_after_trial(work, candidate, consent, interruption));
  return trial;
}

// In system mode all who may use it would act as the one who went to the browser.
Result<void> authorize(const Work& work, Candidate& candidate, const Interruption& interruption) {
  if (candidate.proposal.users.size() != 1) {
    return fail("its authorization is one user's: --allow names more than one");
  }
  AddedFiles scratch_files(work.places);
  const auto proposal = CELLBLOCK_TRY(
      with_scratch_secrets(work.scratch, candidate.proposal, candidate.secrets, scratch_files));
  candidate.authorized_in = CELLBLOCK_TRY(run_authorization(work, proposal, interruption));
  return {};
}

Result<void> add_authorization(const Work& work, Candidate& candidate) {
  auto value = CELLBLOCK_TRY(obtained_authorization(work, candidate.authorized_in));
  const auto file = authorization_file(work.places, candidate.server);
  candidate.secrets.push_back({.path = file, .value = std::move(value)});
  candidate.proposal.secrets.push_back({.variable = authorization_variable, .file = file});
  return {};
}

// A second time, where the first showed that a person has to allow it.
Result<Trial> try_authorized(const Work& work, Candidate& candidate, const AddOptions& options,
                             const Interruption& interruption) {
  auto trial = CELLBLOCK_TRY(try_with_consent(work, candidate, options.consent, interruption));
  if (!options.may_authorize || !needs_authorization(trial)) return trial;
  CELLBLOCK_CHECK(authorize(work, candidate, interruption));
  const bool is_agreed = options.consent == Consent::before_trial;
  auto again = CELLBLOCK_TRY(try_with_consent(
      work, candidate, is_agreed ? Consent::given : options.consent, interruption));
  if (!again.failure) CELLBLOCK_CHECK(add_authorization(work, candidate));
  return again;
}

Exit add(const Work& work, AddedServer added, const AddOptions& options,
         const Interruption& interruption) {
  const auto& context = work.context;
  auto candidate = prepare(work, std::move(added), options);
  if (!candidate) return cannot(context, candidate.error().text);
  const auto trial = try_authorized(work, *candidate, options, interruption);
  if (!trial) return cannot(context, trial.error().text);
  if (trial->failure) return say_failure(work, *trial);
  const auto declared = declare_tried(work, *candidate, *trial);
  if (!declared) return cannot(context, declared.error().text);
  return say_added(work, candidate->server, candidate->installed.origin, *trial);
}

}  // namespace

Exit add_server(const Context& context, const AddPlaces& places, AddedServer added,
                const AddOptions& options, const Interruption& interruption) {
  const auto usable = refuse_name(places, added.declared.name);
  if (!usable) return cannot(context, usable.error().text);
  const auto group = daemon_group(places);
  if (!group) return cannot(context, group.error().text);
  const auto scratch = Scratch::make(places.servers, *group);
  if (!scratch) return cannot(context, scratch.error().text);
  auto asked = context;
  asked.mode = places.mode;
  const Work work{asked, places, *scratch, interruption.token()};
  return add(work, std::move(added), options, interruption);
}

}  // namespace cellblock::cli
