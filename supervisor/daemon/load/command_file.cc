#include "supervisor/daemon/load/command_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "policy/config/path_rules.h"
#include "supervisor/daemon/load/file_digest.h"
#include "supervisor/daemon/load/trusted_path.h"

namespace cellblock {
namespace {

constexpr mode_t anybody_executes = S_IXUSR | S_IXGRP | S_IXOTH;

CommandFacts facts_of(const WalkFailure& failure, std::string host_path) {
  CommandFacts facts;
  facts.host_path = std::move(host_path);
  switch (failure.kind) {
    case WalkFailure::Kind::missing:
      facts.state = CommandState::missing;
      break;
    case WalkFailure::Kind::hidden:
      facts.state = CommandState::not_visible;
      break;
    case WalkFailure::Kind::closed:
    case WalkFailure::Kind::failed:
      facts.state = CommandState::unreadable;
      break;
    case WalkFailure::Kind::unsafe:
      facts.unsafe = failure.text;
      break;
  }
  return facts;
}

CommandState state_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return CommandState::directory;
  if (!S_ISREG(status.st_mode)) return CommandState::not_a_file;
  const bool executable = (status.st_mode & anybody_executes) != 0;
  return executable ? CommandState::usable : CommandState::not_executable;
}

void add_digest(const TrustedFile& file, CommandFacts& facts) {
  auto digest = digest_of(file);
  if (!digest) return;
  facts.sha256 = std::move(digest->sha256);
  facts.stamp = digest->stamp;
}

CommandFacts facts_of(const TrustedFile& file, std::span<const uid_t> owners) {
  CommandFacts facts;
  facts.host_path = file.path;
  facts.state = state_of(file.status);
  if (auto problem = unsafe_owner_or_mode(file.status, owners)) {
    facts.unsafe = fmt::format("{} {}", file.path, *problem);
  }
  const bool set_id = S_ISREG(file.status.st_mode) && (file.status.st_mode & (S_ISUID | S_ISGID));
  facts.set_id = set_id ? SetId::yes : SetId::no;
  return facts;
}

// Where ".." of a link leads no further up.
std::string floor_of(const std::string& host_path, const std::string& image) {
  return !image.empty() && is_at_or_below(host_path, image) ? image : std::string();
}

bool is_on_host(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_missing_on_host(const std::string& path) {
  return !is_on_host(path) && (errno == ENOENT || errno == ENOTDIR);
}

bool could_be_made(const std::string& path, const CommandWanted& command) {
  return std::ranges::any_of(command.binds, [&](const Bind& bind) {
    return bind.access == Access::write && is_at_or_below(path, bind.target);
  });
}

// A script in the host's /tmp is there while one tries it out, and in no cell.
bool is_cells_own(const std::string& path, const CommandWanted& command) {
  if (is_at_or_below(path, workspace_directory)) return true;
  const bool is_tried_out =
      path == command.script && is_at_or_below(path, "/tmp") && is_on_host(path);
  return target_problem(path).has_value() && !is_tried_out;
}

std::optional<LostArgument> lost(const std::string& path, const CommandWanted& command) {
  using Reason = LostArgument::Reason;
  const auto host_path = host_path_of(path, command.binds, command.image);
  if (!host_path && is_cells_own(path, command)) return std::nullopt;
  if (!host_path && is_on_host(path)) return LostArgument{path, Reason::not_visible};
  const bool is_to_be_there = path == command.script && !could_be_made(path, command);
  if (!is_to_be_there || !is_missing_on_host(host_path.value_or(path))) return std::nullopt;
  return LostArgument{path, Reason::missing};
}

void add_lost_arguments(const CommandWanted& command, CommandFacts& facts) {
  for (const std::string& path : command.arguments) {
    if (auto argument = lost(path, command)) facts.lost_arguments.push_back(std::move(*argument));
  }
}

// What is on neither side may be a place that the server makes.
void add_hidden_variables(const CommandWanted& command, CommandFacts& facts) {
  for (const EnvironmentVariable& variable : command.variables) {
    const std::string& path = variable.value;
    if (host_path_of(path, command.binds, command.image) || is_cells_own(path, command)) continue;
    if (is_on_host(path)) facts.hidden_variables.push_back({variable.name, path});
  }
}

}  // namespace

CommandFacts look_at_command(const CommandWanted& command, std::span<const uid_t> owners) {
  const auto host_path = host_path_of(command.path, command.binds, command.image);
  if (!host_path) return {.state = CommandState::not_visible};
  const auto inside_the_cell = [&](std::string_view target) {
    return host_path_of(target, command.binds, command.image);
  };
  const auto file = open_trusted(
      *host_path, {owners, LastLink::follow, inside_the_cell, floor_of(*host_path, command.image)});
  if (!file) return facts_of(file.error(), *host_path);
  CommandFacts facts = facts_of(*file, owners);
  if (command.digest == DigestWanted::yes) add_digest(*file, facts);
  add_lost_arguments(command, facts);
  add_hidden_variables(command, facts);
  return facts;
}

CommandFacts look_at_host_command(const std::string& path, std::span<const uid_t> owners) {
  const auto file = open_trusted(path, {owners, LastLink::follow, {}});
  return file ? facts_of(*file, owners) : facts_of(file.error(), path);
}

}  // namespace cellblock
