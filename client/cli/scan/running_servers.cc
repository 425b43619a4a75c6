#include "client/cli/scan/running_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/import/read/package_run.h"

namespace cellblock::cli {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view modules = "/node_modules/";
constexpr std::size_t few_words = 6;

// "@scope/name" or "name" behind the last node_modules; of a link in .bin its own name.
std::string npm_package_in(std::string_view path) {
  const std::size_t at = path.rfind(modules);
  if (at == std::string_view::npos) return {};
  std::string_view rest = path.substr(at + modules.size());
  if (rest.starts_with(".bin/")) return std::string(rest.substr(5));
  std::size_t end = rest.find('/');
  if (rest.starts_with('@') && end != std::string_view::npos) end = rest.find('/', end + 1);
  return std::string(rest.substr(0, end));
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string python_module(const Texts& command) {
  const auto option = std::ranges::find(command, "-m");
  const bool is_python = !command.empty() && file_name(command.front()).starts_with("python");
  return is_python && option != command.end() && option + 1 != command.end() ? *(option + 1) : "";
}

// A program, or a script that an interpreter is given.
std::string program_shown(const Texts& command) {
  for (std::size_t i = 0; i < std::min(command.size(), few_words); ++i) {
    if (auto package = npm_package_in(command[i]); !package.empty()) return package;
    const bool is_script = i > 0 && command[i].contains("/bin/");
    if (i == 0 || is_script) {
      const std::string name = file_name(command[i]);
      if (name.contains("mcp")) return name;
    }
  }
  return {};
}

// npm and uv call themselves so while they run what was asked for.
Texts as_it_was_typed(const Texts& command) {
  if (command.size() != 1 || !command.front().starts_with("npm exec ")) return command;
  Texts words{"npx"};
  std::string_view rest = std::string_view(command.front()).substr(9);
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    if (end != 0) words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return words;
}

}  // namespace

std::string package_shown(const Texts& written) {
  const Texts command = as_it_was_typed(written);
  if (command.empty()) return {};
  if (const auto run = package_run(command); run && *run) return (*run)->package.name;
  if (const auto run = container_run(command); run && *run) return (*run)->image;
  if (auto module = python_module(command); !module.empty()) return module;
  return program_shown(command);
}

namespace {

constexpr std::array<std::string_view, 13> host_programs = {
    "claude",        "codex", "gemini",     "opencode", "cursor",   "Cursor", "code",
    "code-insiders", "zed",   "zed-editor", "goose",    "windsurf", "copilot"};

bool sounds_like_mcp(std::string package) {
  std::ranges::transform(package, package.begin(), [](unsigned char c) { return std::tolower(c); });
  return package.contains("mcp") || package.contains("modelcontextprotocol");
}

bool is_ours(const SeenProcess& process) { return process.name.starts_with("cellblock"); }

class Processes {
 public:
  explicit Processes(const std::vector<SeenProcess>& all) {
    for (const SeenProcess& one : all) by_pid_[one.pid] = &one;
  }

  /// From its parent on.
  std::vector<const SeenProcess*> above(const SeenProcess& process) const {
    std::vector<const SeenProcess*> all;
    auto next = by_pid_.find(process.parent);
    // Bounded: a list that was read bit by bit may have a ring.
    while (next != by_pid_.end() && all.size() < 64) {
      all.push_back(next->second);
      next = by_pid_.find(next->second->parent);
    }
    return all;
  }

 private:
  std::map<int, const SeenProcess*> by_pid_;
};

std::string started_by(const std::vector<const SeenProcess*>& above) {
  for (const SeenProcess* one : above) {
    const bool is_host = std::ranges::find(host_programs, one->name) != host_programs.end();
    if (is_host) return one->name;
  }
  return {};
}

// What was started from a registry's copy can be added by the line that starts it.
std::string add_line(const std::string& package, const Texts& command) {
  const Texts typed = as_it_was_typed(command);
  const auto run = package_run(typed);
  if (run && *run) return "cellblock add NAME -- " + shown_command(typed);
  const auto script =
      std::ranges::find_if(command, [](const std::string& word) { return word.contains(modules); });
  if (script == command.end()) return {};
  Texts line{"npx", "-y", package};
  line.insert(line.end(), script + 1, command.end());
  return "cellblock add NAME -- " + shown_command(line);
}

}  // namespace

std::vector<ScanFinding> running_servers(const std::vector<SeenProcess>& processes,
                                         std::string (*user_of)(unsigned uid)) {
  const Processes all(processes);
  std::map<int, ScanFinding> found;
  std::set<int> runners;
  for (const SeenProcess& process : processes) {
    const std::string package = package_shown(process.command);
    if (is_ours(process) || !sounds_like_mcp(package)) continue;
    const auto above = all.above(process);
    if (std::ranges::any_of(above, [](const SeenProcess* one) { return is_ours(*one); })) continue;
    for (const SeenProcess* one : above) runners.insert(one->pid);
    found[process.pid] = {.kind = ScanFinding::Kind::running,
                          .user = user_of(process.uid),
                          .host = started_by(above),
                          .name = package,
                          .where = fmt::format("process {}", process.pid),
                          .command = shown_command(process.command),
                          .remedy = add_line(package, process.command)};
  }
  std::vector<ScanFinding> servers;
  for (auto& [pid, finding] : found) {
    if (!runners.contains(pid)) servers.push_back(std::move(finding));
  }
  return servers;
}

namespace {

constexpr std::size_t most_processes = 32'768;
constexpr std::size_t most_status = 64U << 10;
constexpr std::size_t most_command = 256U << 10;

template <class Number>
std::optional<Number> number_behind(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

Texts words_in(std::string_view text) {
  Texts words;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

std::optional<SeenProcess> read_process(const std::string& directory, int pid) {
  const auto status = bounded_file(directory + "/status", most_status);
  const auto command = bounded_file(directory + "/cmdline", most_command);
  if (!status || !command) return std::nullopt;  // it has ended meanwhile
  constexpr std::string_view name = "Name:\t";
  const auto parent = number_behind<int>(*status, "\nPPid:");
  const auto uid = number_behind<unsigned>(*status, "\nUid:");
  if (!status->starts_with(name) || !parent || !uid) return std::nullopt;
  return SeenProcess{.pid = pid,
                     .parent = *parent,
                     .uid = *uid,
                     .name = status->substr(name.size(), status->find('\n') - name.size()),
                     .command = words_in(*command)};
}

}  // namespace

std::vector<SeenProcess> seen_processes() {
  std::vector<SeenProcess> processes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    auto process = read_process(entry.path().string(), pid);
    if (process && processes.size() < most_processes) processes.push_back(*std::move(process));
  }
  return processes;
}

}  // namespace cellblock::cli
