#include "policy/config_check/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "policy/config/path_rules.h"
#include "policy/config_check/secret_path.h"

namespace cellblock {
namespace {

using Words = std::span<const std::string>;

constexpr const char* fetches =
    "downloads what it runs at every start, so that nobody can know beforehand what that is; "
    "allowed: install it once into a directory of root's (npm install --prefix /opt/NAME ..., "
    "python3 -m venv /opt/NAME), then name the interpreter and the script there";
constexpr const char* reads_shell_text =
    "is a shell that is given a text to run; allowed: the program and its arguments, run without "
    "a shell";
constexpr const char* starts_another =
    "starts another program (env and its like look it up by its name), so that the file that runs "
    "is not the one that was checked; allowed: the program's own path, its variables under env, "
    "its bounds under limits";
constexpr const char* is_container =
    "asks a container service, which a cell neither reaches nor may give rights to, and whose "
    "image may be another one at each start; allowed: its image unpacked, under image, and the "
    "program in it (`cellblock add NAME -- docker run ...` does that)";

constexpr std::array<std::string_view, 3> container_clients = {"docker", "podman", "nerdctl"};

// Programs that become or start what their arguments name.
constexpr std::array<std::string_view, 24> wrappers = {"env",
                                                       "nice",
                                                       "timeout",
                                                       "nohup",
                                                       "setsid",
                                                       "stdbuf",
                                                       "ionice",
                                                       "chrt",
                                                       "taskset",
                                                       "time",
                                                       "xargs",
                                                       "sudo",
                                                       "doas",
                                                       "su",
                                                       "runuser",
                                                       "setpriv",
                                                       "unshare",
                                                       "nsenter",
                                                       "chroot",
                                                       "prlimit",
                                                       "systemd-run",
                                                       "flock",
                                                       "start-stop-daemon",
                                                       "firejail"};

constexpr std::array<std::string_view, 8> shells = {"sh",  "bash", "dash", "zsh",
                                                    "ksh", "ash",  "mksh", "fish"};

// Programs that download what they run, and the argument that makes them do so.
struct Fetcher {
  std::string_view program;
  std::string_view argument;  ///< empty: always
};

constexpr Fetcher fetchers[] = {
    {"npx", ""},         {"npx-cli.js", ""},  {"bunx", ""},
    {"uvx", ""},         {"pnpx", ""},        {"corepack", ""},
    {"npm", "exec"},     {"npm", "x"},        {"npm-cli.js", "exec"},
    {"npm-cli.js", "x"}, {"npm", "create"},   {"npm", "init"},
    {"pnpm", "dlx"},     {"pnpm.cjs", "dlx"}, {"yarn", "dlx"},
    {"yarn.js", "dlx"},  {"pipx", "run"},     {"uv", "run"},
    {"uv", "tool"},      {"uv", "x"},         {"bun", "x"},
    {"go", "run"},       {"nix", "run"},      {"nix", "shell"},
    {"nix-shell", ""},   {"flatpak", "run"},  {"snap", "run"},
};

// Of python -m NAME.
constexpr std::array<std::string_view, 3> fetching_modules = {"pipx", "uv", "pip"};
constexpr std::array<std::string_view, 4> remote_schemes = {"http://", "https://", "npm:", "jsr:"};

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }
bool is_option(std::string_view word) { return word.starts_with('-'); }

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// The first that is no option, from `from` on; the end: none.
std::size_t first_argument(Words command, std::size_t from) {
  while (from < command.size() && is_option(command[from])) ++from;
  return from;
}

bool is_fetcher(Words command) {
  if (command.empty()) return false;
  const std::string_view program = name_in(command[0]);
  const std::size_t at = first_argument(command, 1);
  const std::string_view argument = at < command.size() ? command[at] : std::string_view();
  return std::ranges::any_of(fetchers, [&](const Fetcher& fetcher) {
    return program == fetcher.program && (fetcher.argument.empty() || argument == fetcher.argument);
  });
}

bool fetches_module(Words command) {
  if (!name_in(command[0]).starts_with("python")) return false;
  const auto flag = std::ranges::find(command, "-m");
  return flag != command.end() && flag + 1 != command.end() &&
         is_one_of(fetching_modules, *(flag + 1));
}

bool fetches_by_address(Words command) {
  const std::string_view program = name_in(command[0]);
  if (program != "deno" && program != "bun") return false;
  return std::ranges::any_of(command.subspan(1), [](std::string_view word) {
    return std::ranges::any_of(remote_schemes,
                               [&](std::string_view scheme) { return word.starts_with(scheme); });
  });
}

// Itself, or as the script of an interpreter.
bool fetches_at_start(Words command) {
  if (is_fetcher(command) || fetches_module(command) || fetches_by_address(command)) return true;
  const std::size_t script = first_argument(command, 1);
  return script < command.size() && command[script].find('/') != std::string::npos &&
         is_fetcher(command.subspan(script));
}

// The options of a wrapper differ, so each word up to the first path is tried.
bool wraps_fetcher(Words command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (fetches_at_start(command.subspan(i))) return true;
    if (command[i].find('/') != std::string::npos) return false;
  }
  return false;
}

const char* problem_of_wrapper(Words command) {
  return wraps_fetcher(command) ? fetches : starts_another;
}

// A script by its path is a program like any other. Without one the shell reads its standard input,
// which is what a host says.
bool is_shell_text(Words command) {
  if (name_in(command[0]) == "busybox") command = command.subspan(1);
  if (command.empty() || !is_one_of(shells, name_in(command[0]))) return false;
  const std::size_t script = first_argument(command, 1);
  const Words options = command.subspan(1, script - 1);
  const bool reads_text = std::ranges::any_of(options, [](std::string_view option) {
    return !option.starts_with("--") && option.find_first_of("cs") != std::string_view::npos;
  });
  return reads_text || script == command.size();
}

}  // namespace

std::optional<std::string> habit_problem(const std::vector<std::string>& command,
                                         CommandPlace place) {
  if (command.empty()) return std::nullopt;
  const std::string_view program = name_in(command[0]);
  if (is_one_of(container_clients, program)) return is_container;
  if (fetches_at_start(command)) return fetches;
  if (place == CommandPlace::image) {
    return wraps_fetcher(command) ? std::optional(fetches) : std::nullopt;
  }
  if (is_one_of(wrappers, program)) return problem_of_wrapper(command);
  if (is_shell_text(command)) return reads_shell_text;
  return std::nullopt;
}

namespace {

constexpr std::size_t most_arguments = 1024;
constexpr std::size_t longest_argument = 128U << 10;  // the kernel's MAX_ARG_STRLEN
constexpr std::string_view allowed_command =
    "allowed: [\"/absolute/path/of/the/program\", \"argument\", ...], run without a shell";

const char* what_is_lost(LostArgument::Reason reason) {
  switch (reason) {
    case LostArgument::Reason::not_visible:
      return "is on the host, but not visible inside the cell; allowed: its directory under "
             "program "
             "(what the server is installed in) or read";
    case LostArgument::Reason::missing:
      return "does not exist, neither on the host nor in the cell; allowed: the path of the script "
             "inside the cell, its directory under program or read";
  }
  return "";
}

void warn_of_lost(const Scope& scope, Place at, const CommandFacts& facts) {
  for (const LostArgument& argument : facts.lost_arguments) {
    scope.warning(at, "command",
                  fmt::format("\"{}\" {}", argument.path, what_is_lost(argument.reason)));
  }
}

void warn_of_hidden(const Scope& scope, const std::vector<VariableText>& variables,
                    const CommandFacts& facts) {
  const Scope here = scope.below("env");
  for (const HiddenVariable& hidden : facts.hidden_variables) {
    const auto written = std::ranges::find(variables, hidden.name,
                                           [](const VariableText& one) { return one.name.value; });
    if (written == variables.end()) continue;
    here.warning(written->value.at, hidden.name,
                 fmt::format("\"{}\" is on the host, but not visible inside the cell; allowed: it, "
                             "or its directory, under read (or write), or a path inside the cell",
                             hidden.path));
  }
}

// It is looked for again at each start of a cell, so nothing keeps it from being tried.
void note_missing(const Scope& scope, const TextAt& program, std::string_view reason,
                  PathFindings& found) {
  found.no_command = fmt::format("command: \"{}\" {}", program.value, reason);
  scope.complaints.broken(
      scope.file, program.at, scope.prefix + "command",
      fmt::format("\"{}\" {}, so this server will not start", program.value, reason));
}

CommandPlace place_of(const ServerText& text) {
  return text.image ? CommandPlace::image : CommandPlace::host;
}

void check_facts(const Scope& scope, const TextAt& program, CommandPlace place,
                 const CommandFacts& facts, PathFindings& found) {
  if (!facts.unsafe.empty()) {
    scope.broken(program.at, "command",
                 fmt::format("somebody else could change \"{}\": {}; allowed: a program that, with "
                             "every directory above it, only root (or, rootless, you) can change",
                             program.value, facts.unsafe));
  }
  if (facts.set_id == SetId::yes) {
    scope.broken(program.at, "command",
                 fmt::format("{} is set-uid or set-gid, which has no effect in a cell; allowed: "
                             "programs without those bits",
                             facts.host_path));
  }
  if (auto reason = why_it_will_not_start(facts.state)) {
    note_missing(scope, program, place == CommandPlace::image ? *reason + " in the image" : *reason,
                 found);
  }
  warn_of_lost(scope, program.at, facts);
}

bool check_arguments(const Scope& scope, const TextList& texts) {
  const std::size_t errors_before = scope.complaints.error_count();
  for (const TextAt& text : texts) {
    if (text.value.find('\0') != std::string::npos) {
      scope.error(text.at, "command", "has a NUL in it; allowed: any other byte");
    } else if (text.value.size() >= longest_argument) {
      scope.error(text.at, "command", "an argument is too long; allowed: less than 128KiB");
    }
  }
  return scope.complaints.error_count() == errors_before;
}

// The program as it is written: a secret is an argument at most.
std::vector<std::string> values_of(const Scope& scope, const TextList& texts,
                                   const ServerText& server) {
  std::vector<std::string> values = {texts.front().value};
  for (const TextAt& text : std::span(texts).subspan(1)) {
    auto value = with_secret_paths(text.value, server, Escape::removed);
    if (!value) scope.error(text.at, "command", value.error().text);
    values.push_back(value.value_or(text.value));
  }
  return values;
}

}  // namespace

std::optional<std::string> why_it_will_not_start(CommandState state) {
  switch (state) {
    case CommandState::usable:
      return std::nullopt;
    case CommandState::not_visible:
      return "is not visible inside the cell: it is neither in the host's system directories "
             "(/usr, /bin, ...) nor under program, read or write";
    case CommandState::missing:
      return "does not exist";
    case CommandState::directory:
      return "is a directory";
    case CommandState::not_a_file:
      return "is not a regular file";
    case CommandState::not_executable:
      return "is not executable";
    case CommandState::unreadable:
      return "cannot be looked at";
  }
  return std::nullopt;
}

std::vector<std::string> check_command(const Scope& scope, const ServerText& text,
                                       const HostFacts& facts, PathFindings& found) {
  if (!text.command || text.command->value.empty() || text.command->value.size() > most_arguments) {
    if (scope.mentioned("command")) return {};  // of the wrong type
    const Place at = text.command ? text.command->at : text.name.at;
    scope.error(at, "command",
                fmt::format("is missing, empty, or has more than {} parts; {}", most_arguments,
                            allowed_command));
    return {};
  }
  const TextList& texts = text.command->value;
  if (!check_arguments(scope, texts)) return {};
  std::vector<std::string> command = values_of(scope, texts, text);
  // First: the path of a program that will not do either is no help.
  if (auto problem = habit_problem(command, place_of(text))) {
    scope.error(texts.front().at, "command",
                fmt::format("\"{}\" {}", texts.front().value, *problem));
  } else if (auto path = path_problem(texts.front().value)) {
    scope.error(texts.front().at, "command",
                fmt::format("\"{}\" {}; {}", texts.front().value, *path, allowed_command));
    return {};
  }
  const auto file = facts.commands.find(text.name.value);
  if (file == facts.commands.end()) return command;
  check_facts(scope, texts.front(), place_of(text), file->second, found);
  warn_of_hidden(scope, text.env, file->second);
  return command;
}

namespace {

constexpr std::size_t digest_digits = 64;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_digest(const std::string& text) {
  return text.size() == digest_digits && std::ranges::all_of(text, is_hex);
}

const char* problem_of(PathKind kind) {
  switch (kind) {
    case PathKind::directory:
      return nullptr;
    case PathKind::missing:
      return "does not exist";
    case PathKind::file:
    case PathKind::other:
      break;
  }
  return "is no directory";
}

}  // namespace

std::optional<FileStamp> check_digest(const Scope& scope, const ServerText& text,
                                      const HostFacts& facts) {
  if (!text.sha256) return std::nullopt;
  std::string wanted = text.sha256->value;
  std::ranges::transform(wanted, wanted.begin(), lowered);
  if (!is_digest(wanted)) {
    scope.error(text.sha256->at, "sha256",
                fmt::format("\"{}\" is no SHA-256; allowed: 64 hexadecimal digits, as sha256sum "
                            "prints them",
                            text.sha256->value));
    return FileStamp{};
  }
  const auto found = facts.commands.find(text.name.value);
  if (found == facts.commands.end() || found->second.sha256.empty()) {
    scope.broken(text.sha256->at, "sha256",
                 "cannot be compared, since the file of `command` cannot be read");
    return FileStamp{};
  }
  const CommandFacts& command = found->second;
  if (command.sha256 == wanted) return command.stamp.value_or(FileStamp{});
  scope.broken(text.sha256->at, "sha256",
               fmt::format("{} has the SHA-256 {}, not this one; allowed: the digest of the file "
                           "that shall run, if it was changed on purpose",
                           command.host_path, command.sha256));
  return FileStamp{};
}

void check_program(const Scope& scope, const ServerText& text, const HostFacts& facts) {
  if (!text.program || scope.mentioned("program")) return;
  std::string path;
  check_path(scope, "program", text.program, path);
  if (path.empty()) return;
  const auto found = facts.programs.find(path);
  const PathKind kind = found == facts.programs.end() ? PathKind::missing : found->second.kind;
  if (const char* problem = problem_of(kind)) {
    scope.broken(text.program->at, "program",
                 fmt::format("\"{}\" {}; allowed: the directory that the server is installed in",
                             path, problem));
  } else if (!found->second.unsafe.empty()) {
    scope.broken(
        text.program->at, "program",
        fmt::format("somebody else could change what is in \"{0}\": {1}; allowed: a directory "
                    "that, with everything in it and above it, only root (or, rootless, "
                    "you) can change (chown -R root: {0}, since npm keeps the owners that a "
                    "package names; chmod -R go-w {0})",
                    path, found->second.unsafe));
  }
}

namespace {

constexpr std::array<std::string_view, 4> compiling = {"node", "nodejs", "bun", "deno"};

bool compiles(std::string_view path) {
  return std::ranges::find(compiling, name_in(path)) != compiling.end();
}

bool is_told_not_to(const TextList& command) {
  return std::ranges::any_of(command, [](const TextAt& part) {
    return part.value.find("--jitless") != std::string::npos;
  });
}

}  // namespace

void check_runtime(const Scope& scope, const ServerText& text, const SyscallRules& rules,
                   const HostFacts& facts) {
  const auto found = facts.commands.find(text.name.value);
  if (found == facts.commands.end() || !text.command || text.command->value.empty()) return;
  if (rules.write_exec == WriteExec::allowed || !compiles(found->second.host_path)) return;
  if (is_told_not_to(text.command->value)) return;
  scope.warning(
      text.profile ? text.profile->at : text.command->value.front().at, "profile",
      fmt::format("{} compiles while it runs, which write_exec = \"refused\" of profile "
                  "\"{}\" stops, so this server will not start; better: profile = "
                  "\"node\", or the argument --jitless",
                  found->second.host_path, text.profile ? text.profile->value : "native"));
}

namespace {

void refuse_client_in(const Scope& scope, std::string_view key, const TextAt& text) {
  if (text.value.find("${client.") == std::string::npos) return;
  scope.error(text.at, key,
              "\"${client.\" is filled in under env only; allowed: elsewhere other characters");
}

void refuse_in(const Scope& scope, std::string_view key, const TextAt& text) {
  refuse_client_in(scope, key, text);
  if (text.value.find(secret_placeholder) == std::string::npos) return;
  scope.error(text.at, key,
              "\"${secret:\" is filled in under env and in arguments of command only; allowed: "
              "elsewhere other characters");
}

void refuse_in(const Scope& scope, std::string_view key, const TextList& texts) {
  for (const TextAt& text : texts) refuse_in(scope, key, text);
}

void refuse_in(const Scope& scope, std::string_view table, const std::vector<SecretText>& secrets) {
  const Scope here = scope.below(table);
  for (const SecretText& secret : secrets) {
    const std::string& name = secret.name.value;
    if (secret.file) refuse_in(here, name, TextAt{secret.file->value, secret.file->at});
    if (secret.command) refuse_in(here.below(name), "command", secret.command->value);
  }
}

}  // namespace

void refuse_placeholders(const Scope& scope, const ServerText& text) {
  if (text.command) {
    for (const TextAt& word : text.command->value) refuse_client_in(scope, "command", word);
  }
  if (text.program) refuse_in(scope, "program", TextAt{text.program->value, text.program->at});
  if (text.image) refuse_in(scope, "image", TextAt{text.image->value, text.image->at});
  if (text.working_directory) {
    refuse_in(scope, "working_directory",
              TextAt{text.working_directory->value, text.working_directory->at});
  }
  refuse_in(scope, "read", text.read);
  refuse_in(scope, "write", text.write);
  refuse_in(scope, "env_from_file", text.env_from_file);
  refuse_in(scope, "secret_files", text.secret_files);
  refuse_in(scope, "secret_memfds", text.secret_memfds);
  if (text.workspace) refuse_in(scope, "workspace.allow", text.workspace->allow);
  if (text.egress) refuse_in(scope, "egress.allow", text.egress->allow);
}

}  // namespace cellblock
