#include "client/cli/import/propose/proposed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_server.h"
#include "policy/config_check/command_check.h"

namespace cellblock::cli {
namespace {

std::optional<std::string> value_of(const std::string& name, const PlaceholderValues& values) {
  if (name == "workspaceFolder" || name == "workspaceRoot" || name == "CLAUDE_PROJECT_DIR") {
    return "/workspace";
  }
  if (name == "__dirname" && !values.own_directory.empty()) return values.own_directory;
  if (name == "/" || name == "pathSeparator") return "/";
  const auto fallback = name.find(":-");
  if (fallback == std::string::npos) return std::nullopt;
  return name.substr(fallback + 2);
}

}  // namespace

std::string filled_in(const std::string& text, const PlaceholderValues& values) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto begin = text.find("${", at);
    const auto end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos) break;
    const auto value = value_of(text.substr(begin + 2, end - begin - 2), values);
    result += text.substr(at, begin - at);
    result += value.value_or(text.substr(begin, end + 1 - begin));
    at = end + 1;
  }
  return result + text.substr(at);
}

namespace {

// "--name" of "--name=value"; the value behind it, or all of it.
struct Option {
  std::string name;
  std::string value;
};

Option option_of(const std::string& argument) {
  const auto equals = argument.find('=');
  const bool is_option = argument.starts_with('-') && equals != std::string::npos;
  if (!is_option) return {.name = {}, .value = argument};
  return {.name = argument.substr(0, equals + 1), .value = argument.substr(equals + 1)};
}

bool is_secret(const Option& option, const std::string& before) {
  const bool is_named = !option.name.empty()
                            ? sounds_secret(option.name)
                            : before.starts_with('-') && before.find('=') == std::string::npos &&
                                  !option.value.starts_with('-') && sounds_secret(before);
  return looks_secret(option.value) ||
         (is_named && !option.value.empty() && !option.value.starts_with('/'));
}

bool is_of_another_system(const std::string& text) {
  return text.size() > 2 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

std::string taken_out(const Option& option, const char* what, std::size_t place,
                      Proposal& proposal) {
  proposal.todos.push_back(fmt::format("word {} of the command {}", place, what));
  return option.name + "TODO";
}

void look_for_paths(const std::string& value, std::size_t place, const MachineView& machine,
                    Proposal& proposal) {
  if (value == "/workspace" || value.starts_with("/workspace/")) {
    if (proposal.workspace == Workspace::none) proposal.workspace = Workspace::read;
  } else if (value.starts_with('/') && value.find('\n') == std::string::npos) {
    propose_path(value, PathUse::read, "named in its arguments", machine, proposal);
  } else if (value.starts_with("~/") || value == "~" || is_of_another_system(value)) {
    proposal.todos.push_back(
        fmt::format("word {} of the command is no path of this machine's cells: {}", place, value));
  }
}

// Appended to the command. What looks like a secret is not: TODO stands in its place. Directories
// that they name become readable.
void propose_arguments(const std::vector<std::string>& arguments, const MachineView& machine,
                       Proposal& proposal) {
  std::string before;
  for (const auto& argument : arguments) {
    const auto option = option_of(argument);
    const auto place = proposal.command.size() + 1;
    if (is_placeholder(option.value)) {
      proposal.command.push_back(
          taken_out(option,
                    "was left to the host to fill in: write what it is (a secret goes "
                    "into env_from_file or secret_files)",
                    place, proposal));
    } else if (is_secret(option, before)) {
      proposal.command.push_back(
          taken_out(option,
                    "looked like a secret: give it by env_from_file or secret_files, if the server "
                    "takes it there",
                    place, proposal));
    } else {
      look_for_paths(option.value, place, machine, proposal);
      proposal.command.push_back(argument);
    }
    before = argument;
  }
}

constexpr std::array<std::string_view, 3> compiling = {"node", "bun", "deno"};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string profile_for(std::string_view program) {
  const auto name = file_name(program);
  if (std::ranges::find(compiling, name) != compiling.end()) return "node";
  return name.starts_with("python") ? "python" : "native";
}

std::string found_or(const MachineView& machine, const std::string& name,
                     const std::string& usual) {
  const auto found = machine.find_program(name);
  return found.empty() ? usual : found;
}

// ---- packages ----

// A version that nobody named is the one that the admin has installed since.
PackageName version_or_installed(const PackageName& package,
                                 const std::optional<InstalledPackage>& installed,
                                 Proposal& proposal) {
  if (!installed) return package;
  const auto found = package_named(package.registry, package.name + "@" + installed->version);
  if (!found || found->version.empty()) return package;
  if (!package.version.empty() && found->version != package.version) {
    proposal.todos.push_back(fmt::format("version {} of {} is installed, {} was named",
                                         found->version, package.name, package.version));
  }
  return package.version.empty() ? *found : package;
}

// The steps are for root: what a package would run when it is installed, it would run outside any
// cell.
void propose_npm(const PackageRun& run, const std::string& directory, const MachineView& machine,
                 Proposal& proposal) {
  const auto modules = directory + "/node_modules/";
  const auto installed = machine.installed(directory, run.package);
  const auto package = version_or_installed(run.package, installed, proposal);
  proposal.steps.push_back(fmt::format("npm install --ignore-scripts --prefix {} {}", directory,
                                       plain_or_shell_word(pinned(package))));
  proposal.profile = "node";
  proposal.command = {found_or(machine, "node", "/usr/bin/node")};
  if (!run.program.empty()) {
    proposal.command.push_back(modules + ".bin/" + std::string(file_name(run.program)));
  } else if (installed) {
    proposal.command.push_back(installed->entry);
  } else {
    proposal.command.push_back(modules + run.package.name + "/TODO");
    proposal.todos.push_back(
        fmt::format("what is to be run stands under \"bin\" in {}{}/package.json once it is "
                    "installed: write it "
                    "in the place of TODO, or import again then",
                    modules, run.package.name));
  }
}

// As `pip install --target` has put it there; else in a virtual environment that the admin makes.
void propose_pypi(const PackageRun& run, const std::string& directory, const MachineView& machine,
                  Proposal& proposal) {
  const auto installed = machine.installed(directory, run.package);
  if (installed) {
    proposal.profile = "python";
    proposal.command = {found_or(machine, "python3", "/usr/bin/python3"),
                        run.program.empty()
                            ? installed->entry
                            : directory + "/bin/" + std::string(file_name(run.program))};
    proposal.variables.emplace_back("PYTHONPATH", directory);
    return;
  }
  proposal.steps.push_back(fmt::format("python3 -m venv {}", directory));
  proposal.steps.push_back(fmt::format("{}/bin/pip install --only-binary :all: {}", directory,
                                       plain_or_shell_word(pinned(run.package))));
  proposal.profile = "python";
  const auto script = run.program.empty() ? run.package.name : std::string(file_name(run.program));
  proposal.command = {directory + "/bin/python", directory + "/bin/" + script};
}

void propose_package(const PackageRun& run, const MachineView& machine, const Places& places,
                     Proposal& proposal) {
  const auto directory = places.directory_of(proposal.name);
  const bool is_npm = run.package.registry == Registry::npm;
  if (is_npm) {
    propose_npm(run, directory, machine, proposal);
  } else {
    propose_pypi(run, directory, machine, proposal);
  }
  proposal.program = directory;
  if (!proposal.steps.empty() && proposal.steps.back().ends_with("VERSION")) {
    proposal.todos.push_back(
        fmt::format("no version was named: put the one that you mean in the place of VERSION ({})",
                    is_npm ? "npm view " + run.package.name + " version"
                           : "pip index versions " + run.package.name));
  }
}

// ---- programs ----

// A program that is no package's is the admin's to install.
void propose_program(const std::string& program, const MachineView& machine, const Places& places,
                     Proposal& proposal) {
  proposal.profile = profile_for(program);
  if (program.starts_with('/')) {
    proposal.command = {program};
    propose_path(program, PathUse::read, "the program; it has to be root's alone", machine,
                 proposal);
    return;
  }
  const bool is_bare = program.find('/') == std::string::npos;
  auto found = is_bare ? machine.find_program(program) : std::string();
  // Debian has no program of that name.
  if (found.empty() && program == "python") found = machine.find_program("python3");
  if (!found.empty()) {
    proposal.command = {found};
    return;
  }
  proposal.command = {places.directory_of(proposal.name) + "/TODO"};
  proposal.todos.push_back(fmt::format(
      "{} is not among the host's programs: install it as root, and name its whole path", program));
}

bool is_interpreter(std::string_view program) {
  return profile_for(program) != "native" || file_name(program) == "ruby" ||
         file_name(program) == "perl" || file_name(program) == "php";
}

// Where its other files are can only be guessed: beside it.
void propose_script(const std::vector<std::string>& words, const MachineView& machine,
                    Proposal& proposal) {
  if (words.size() < 2 || !is_interpreter(words.front())) return;
  const auto script = std::ranges::find_if(words.begin() + 1, words.end(),
                                           [](const auto& word) { return !word.starts_with('-'); });
  if (script == words.end() || !script->starts_with('/')) return;
  if (*std::prev(script) == "-m") return;
  const auto directory = script->substr(0, script->rfind('/'));
  if (directory.empty()) return;
  propose_path(directory, PathUse::read, "where its script is; it may need more of that tree",
               machine, proposal);
}

// What fetches when it starts, asks a container service, or reads a shell's text.
std::string habit_of(const std::vector<std::string>& words) {
  const auto habit = habit_problem(words);
  return habit ? fmt::format("its command {}", *habit) : std::string();
}

// `cellblock add` has put a script of ours before it.
void propose_remote(const PackageRun& run, const DeclaredServer& server, const MachineView& machine,
                    Proposal& proposal) {
  const auto start = proposal.program + "/" + remote_start_file;
  if (machine.kind_of(start) == PathKind::file) {
    proposal.command.insert(proposal.command.begin() + 1, start);
  }
  std::ranges::copy(run.arguments, std::back_inserter(proposal.command));
  const auto address = remote_address(address_in(run));
  const auto rules = address ? rules_for(*address, server.named_ranges)
                             : Result<std::vector<std::string>>(fail(address.error().text));
  if (!rules) {
    proposal.todos.push_back(rules.error().text);
    return;
  }
  if (address->is_plain) proposal.command.emplace_back("--allow-http");
  std::ranges::copy(*rules, std::back_inserter(proposal.domains));
}

void propose_bundle(const DeclaredBundle& bundle, const Places& places, const MachineView& machine,
                    Proposal& proposal) {
  const auto directory = places.directory_of(proposal.name);
  proposal.program = directory;
  if (!places.installed.empty()) return;
  if (machine.kind_of(directory) != PathKind::absent) {
    proposal.todos.push_back(fmt::format(
        "{} is there already, perhaps another server's: look before you put this over it",
        directory));
  }
  if (!bundle.archive.empty()) {
    // An archive says who may write what is in it.
    proposal.steps.push_back(fmt::format("install -d -m 0700 {}", directory));
    proposal.steps.push_back(
        fmt::format("unzip -q {} -d {}", shell_word(bundle.archive), directory));
    proposal.steps.push_back(fmt::format("chmod -R u=rwX,go=rX {}", directory));
    return;
  }
  proposal.steps.push_back(fmt::format("install -d {}", directory));
  proposal.steps.push_back(fmt::format("cp -r --no-preserve=ownership,mode {}/. {}",
                                       shell_word(bundle.directory), directory));
}

std::vector<std::string> words_of(const DeclaredServer& server, const std::string& directory) {
  std::vector<std::string> words;
  words.reserve(server.command.size());
  for (const auto& word : server.command) {
    words.push_back(filled_in(word, {server.bundle ? directory : std::string()}));
  }
  return words;
}

Result<std::optional<PackageRun>> run_of(const DeclaredServer& server,
                                         const std::vector<std::string>& words) {
  if (!server.package) return package_run(words);
  const auto joined = server.package->name +
                      (server.package->registry == Registry::npm ? "@" : "==") +
                      server.package->version;
  PackageRun run;
  run.package = CELLBLOCK_TRY(package_named(server.package->registry, joined));
  run.arguments = words;
  return std::optional<PackageRun>(std::move(run));
}

}  // namespace

std::string plain_or_shell_word(const std::string& text) {
  constexpr std::string_view marks = "@/._=+:,%-";
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [marks](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || marks.contains(byte);
  });
  return is_plain ? text : shell_word(text);
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char byte : text) word += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return word + "'";
}

Result<std::optional<PackageRun>> package_run_of(const DeclaredServer& server) {
  return run_of(server, server.command);
}

void propose_command(const DeclaredServer& server, const MachineView& machine, const Places& places,
                     Proposal& proposal) {
  const auto directory = places.directory_of(proposal.name);
  const auto words = words_of(server, directory);
  const auto run = run_of(server, words);
  if (!run) {
    proposal.obstacle = run.error().text;
    return;
  }
  if (!*run) proposal.obstacle = habit_of(words);
  if (!proposal.obstacle.empty()) return;
  if (server.bundle) propose_bundle(*server.bundle, places, machine, proposal);
  if (*run) {
    propose_package(**run, machine, places, proposal);
    if (is_remote(**run)) {
      propose_remote(**run, server, machine, proposal);
    } else {
      propose_arguments((*run)->arguments, machine, proposal);
    }
    return;
  }
  propose_program(words.front(), machine, places, proposal);
  if (!server.bundle) propose_script(words, machine, proposal);
  propose_arguments({words.begin() + 1, words.end()}, machine, proposal);
}

}  // namespace cellblock::cli
