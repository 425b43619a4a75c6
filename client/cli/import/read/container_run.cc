#include "client/cli/import/read/container_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <string_view>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Words = std::span<const std::string>;

enum class Treatment {
  kept,     ///< holds for every cell
  remark,   ///< nothing that the server notices
  refused,  ///< a cell has no such thing
  variable,
  environment_file,
  volume,
  mount,
  working_directory,
  entrypoint,
  network,
  platform,
};

enum class Value { none, one };

struct ContainerOption {
  std::string_view name;
  char letter;  ///< '\0': none
  Value value;
  Treatment treatment;
  std::string_view why;  ///< remark, refused
};

constexpr std::string_view own_id = "a cell has an id of its own, and uid 1000 inside";
constexpr std::string_view no_terminal = "MCP speaks over pipes, and a cell has no terminal";
constexpr std::string_view no_rights = "a cell has no capability and no device of the host's";
constexpr std::string_view no_ports =
    "nobody connects to a cell; a server over stdio needs no port";
constexpr std::string_view by_limits =
    "leave it out, and write it under limits in the declaration afterwards";
constexpr std::string_view by_egress = "leave it out, and name each host by --egress NAME:PORT";
constexpr std::string_view own_namespaces = "a cell shares no namespace";
constexpr std::string_view is_pinned = "the image is fetched once, and pinned";
constexpr std::string_view no_label = "a cell has the server's name";

constexpr ContainerOption run_options[] = {
    {"interactive", 'i', Value::none, Treatment::kept, ""},
    {"rm", '\0', Value::none, Treatment::kept, ""},
    {"init", '\0', Value::none, Treatment::kept, ""},
    {"quiet", 'q', Value::none, Treatment::kept, ""},
    {"read-only", '\0', Value::none, Treatment::kept, ""},
    {"cap-drop", '\0', Value::one, Treatment::kept, ""},
    {"attach", 'a', Value::one, Treatment::kept, ""},
    {"env", 'e', Value::one, Treatment::variable, ""},
    {"env-file", '\0', Value::one, Treatment::environment_file, ""},
    {"volume", 'v', Value::one, Treatment::volume, ""},
    {"mount", '\0', Value::one, Treatment::mount, ""},
    {"workdir", 'w', Value::one, Treatment::working_directory, ""},
    {"entrypoint", '\0', Value::one, Treatment::entrypoint, ""},
    {"network", '\0', Value::one, Treatment::network, ""},
    {"net", '\0', Value::one, Treatment::network, ""},
    {"platform", '\0', Value::one, Treatment::platform, ""},
    {"user", 'u', Value::one, Treatment::remark, own_id},
    {"name", '\0', Value::one, Treatment::remark, no_label},
    {"hostname", 'h', Value::one, Treatment::remark, "a cell's is \"cell\""},
    {"label", 'l', Value::one, Treatment::remark, no_label},
    {"pull", '\0', Value::one, Treatment::remark, is_pinned},
    {"log-driver", '\0', Value::one, Treatment::remark, "`cellblock logs` has what it writes"},
    {"stop-timeout", '\0', Value::one, Treatment::remark, "see stop in the declaration"},
    {"restart", '\0', Value::one, Treatment::remark, "see restart in the declaration"},
    {"tty", 't', Value::none, Treatment::refused, no_terminal},
    {"detach", 'd', Value::none, Treatment::refused, "a server answers whoever started it"},
    {"publish", 'p', Value::one, Treatment::refused, no_ports},
    {"publish-all", 'P', Value::none, Treatment::refused, no_ports},
    {"expose", '\0', Value::one, Treatment::refused, no_ports},
    {"privileged", '\0', Value::none, Treatment::refused, no_rights},
    {"cap-add", '\0', Value::one, Treatment::refused, no_rights},
    {"device", '\0', Value::one, Treatment::refused, no_rights},
    {"gpus", '\0', Value::one, Treatment::refused, no_rights},
    {"security-opt", '\0', Value::one, Treatment::refused, "a cell's own filter and rules hold"},
    {"group-add", '\0', Value::one, Treatment::refused, own_id},
    {"userns", '\0', Value::one, Treatment::refused, own_id},
    {"pid", '\0', Value::one, Treatment::refused, own_namespaces},
    {"ipc", '\0', Value::one, Treatment::refused, own_namespaces},
    {"uts", '\0', Value::one, Treatment::refused, own_namespaces},
    {"add-host", '\0', Value::one, Treatment::refused, by_egress},
    {"dns", '\0', Value::one, Treatment::refused, by_egress},
    {"link", '\0', Value::one, Treatment::refused, by_egress},
    {"memory", 'm', Value::one, Treatment::refused, by_limits},
    {"cpus", '\0', Value::one, Treatment::refused, by_limits},
    {"pids-limit", '\0', Value::one, Treatment::refused, by_limits},
    {"ulimit", '\0', Value::one, Treatment::refused, by_limits},
    {"shm-size", '\0', Value::one, Treatment::refused, "a cell's /dev/shm has 64 MiB"},
    {"tmpfs", '\0', Value::one, Treatment::refused,
     "a cell has /tmp and its home for that: leave it out, and see limits.tmp"},
    {"volumes-from", '\0', Value::one, Treatment::refused,
     "name each directory by --read or --write"},
};

// ---- values of options ----

std::unexpected<Error> not_kept(std::string_view option, std::string_view why) {
  return fail(fmt::format("a cell cannot keep {}: {}", safe_line(option), why));
}

void add_variable(const std::string& word, ContainerRun& run) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) {
    run.inherited.push_back(word);
  } else {
    run.variables.push_back({.name = word.substr(0, equals), .value = word.substr(equals + 1)});
  }
}

Result<void> add_mount(const std::string& option, ContainerMount mount, ContainerRun& run) {
  if (!mount.source.starts_with('/')) {
    return not_kept(option, fmt::format("\"{}\" is a volume of the engine's; allowed: the whole "
                                        "path of a directory (a cell's home, /home/mcp, is kept)",
                                        safe_line(mount.source)));
  }
  if (!mount.target.starts_with('/')) return not_kept(option, "it names no place in the container");
  if (mount.source.ends_with(".sock")) {
    return not_kept(option, "a socket of the host's is not shown to a cell");
  }
  run.mounts.push_back(std::move(mount));
  return {};
}

// SOURCE:TARGET[:ro|rw|z|Z,...]
Result<void> add_volume(const std::string& value, ContainerRun& run) {
  const auto first = value.find(':');
  if (first == std::string::npos) {
    return not_kept("-v", "a volume without a source is the engine's; a cell's home is kept");
  }
  const auto second = value.find(':', first + 1);
  ContainerMount mount{.source = value.substr(0, first),
                       .target = value.substr(first + 1, second - first - 1)};
  std::istringstream words(second == std::string::npos ? "" : value.substr(second + 1));
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "ro") mount.is_read_only = true;
    constexpr std::array<std::string_view, 8> idle = {"ro",     "rw",      "z",        "Z",
                                                      "cached", "private", "rprivate", "delegated"};
    if (std::ranges::find(idle, word) == idle.end()) {
      return not_kept("-v", fmt::format("\"{}\" is not understood", safe_line(word)));
    }
  }
  return add_mount("-v", std::move(mount), run);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

// type=bind,source=PATH,target=PATH[,readonly]
Result<void> add_long_mount(const std::string& value, ContainerRun& run) {
  ContainerMount mount;
  std::string type = "volume";
  std::istringstream words(value);
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const auto rest = equals == std::string::npos ? std::string("true") : word.substr(equals + 1);
    if (key == "type") type = rest;
    if (is_one_of(key, {"source", "src"})) mount.source = rest;
    if (is_one_of(key, {"target", "dst", "destination"})) mount.target = rest;
    if (is_one_of(key, {"readonly", "ro"})) mount.is_read_only = rest == "true" || rest == "1";
    if (!is_one_of(key, {"type", "source", "src", "target", "dst", "destination", "readonly", "ro",
                         "consistency"})) {
      return not_kept("--mount", fmt::format("\"{}\" is not understood", safe_line(key)));
    }
  }
  if (type == "bind") return add_mount("--mount", std::move(mount), run);
  return not_kept("--mount", fmt::format("type={} is the engine's; allowed: type=bind with a "
                                         "directory (a cell has a home that is kept, and /tmp)",
                                         safe_line(type)));
}

Result<void> check_network(const std::string& value) {
  if (is_one_of(value, {"none", "bridge", "default"})) return {};
  return not_kept("--network " + value, by_egress);
}

// As this program was built for.
Result<void> check_platform(const std::string& value) {
#if defined(__aarch64__)
  constexpr std::string_view own = "linux/arm64";
#else
  constexpr std::string_view own = "linux/amd64";
#endif
  if (value.starts_with(own) || value == "linux") return {};
  return not_kept("--platform " + value, fmt::format("this machine runs {}", own));
}

std::string written(const ContainerOption& option) { return "--" + std::string(option.name); }

Result<void> take(const ContainerOption& option, const std::string& value, ContainerRun& run) {
  switch (option.treatment) {
    case Treatment::kept:
      return {};
    case Treatment::remark:
      run.remarks.push_back(fmt::format("{}: {}", written(option), option.why));
      return {};
    case Treatment::refused:
      return not_kept(written(option), option.why);
    case Treatment::variable:
      add_variable(value, run);
      return {};
    case Treatment::environment_file:
      run.environment_files.push_back(value);
      return {};
    case Treatment::volume:
      return add_volume(value, run);
    case Treatment::mount:
      return add_long_mount(value, run);
    case Treatment::working_directory:
      run.working_directory = value;
      return {};
    case Treatment::entrypoint:
      run.entrypoint = value;
      return {};
    case Treatment::network:
      return check_network(value);
    case Treatment::platform:
      return check_platform(value);
  }
  return {};
}

// ---- words ----

std::unexpected<Error> not_understood(const std::string& word) {
  return fail(
      fmt::format("the option \"{}\" of its container is not understood; leave it out, or "
                  "declare the image by hand (docs/images.md)",
                  safe_line(word)));
}

// How many words it takes.
Result<std::size_t> read_long(Words words, ContainerRun& run) {
  const std::string& word = words.front();
  const auto equals = word.find('=');
  const auto name =
      std::string_view(word).substr(2, equals == std::string::npos ? equals : equals - 2);
  const auto option = std::ranges::find(run_options, name, &ContainerOption::name);
  if (option == std::end(run_options)) return not_understood(word);
  if (equals != std::string::npos || option->value == Value::none) {
    const auto value = equals == std::string::npos ? std::string() : word.substr(equals + 1);
    CELLBLOCK_CHECK(take(*option, value, run));
    return 1;
  }
  if (words.size() < 2) return not_understood(word);
  CELLBLOCK_CHECK(take(*option, words[1], run));
  return 2;
}

// "-i", "-it", "-eNAME", "-e NAME".
Result<std::size_t> read_short(Words words, ContainerRun& run) {
  const std::string& word = words.front();
  for (std::size_t at = 1; at < word.size(); ++at) {
    const auto option = std::ranges::find(run_options, word[at], &ContainerOption::letter);
    if (option == std::end(run_options)) return not_understood(word);
    if (option->value == Value::none) {
      CELLBLOCK_CHECK(take(*option, "", run));
      continue;
    }
    auto value = word.substr(at + 1);
    if (value.starts_with('=')) value.erase(0, 1);
    const bool is_next = value.empty();
    if (is_next && words.size() < 2) return not_understood(word);
    CELLBLOCK_CHECK(take(*option, is_next ? words[1] : value, run));
    return is_next ? 2 : 1;
  }
  return 1;
}

Result<ContainerRun> read_run(Words words) {
  ContainerRun run;
  while (!words.empty() && words.front().size() > 1 && words.front().starts_with('-')) {
    if (words.front() == "--") {
      words = words.subspan(1);
      break;
    }
    const bool is_long = words.front().starts_with("--");
    words = words.subspan(CELLBLOCK_TRY(is_long ? read_long(words, run) : read_short(words, run)));
  }
  if (words.empty()) return fail("it names no image");
  run.image = words.front();
  run.arguments.assign(words.begin() + 1, words.end());
  return run;
}

std::string_view file_name_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  if (path.ends_with(".exe")) path.remove_suffix(4);
  return path;
}

// The words before the options; 0: another command.
std::size_t runner_words(Words command) {
  if (command.empty() || !is_one_of(file_name_of(command[0]), {"docker", "podman", "nerdctl"})) {
    return 0;
  }
  const bool is_long = command.size() > 2 && command[1] == "container" && command[2] == "run";
  if (is_long) return 3;
  return command.size() > 1 && command[1] == "run" ? 2 : 0;
}

}  // namespace

Result<std::optional<ContainerRun>> container_run(const std::vector<std::string>& command) {
  const auto own = runner_words(command);
  if (own == 0) return std::nullopt;
  auto run = CELLBLOCK_TRY(read_run(Words(command).subspan(own)));
  return std::optional<ContainerRun>(std::move(run));
}

void read_environment_file(const std::string& text, ContainerRun& run) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') continue;
    add_variable(line.substr(begin), run);
  }
}

}  // namespace cellblock::cli
