#include "policy/config_check/command_lint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

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

}  // namespace cellblock
