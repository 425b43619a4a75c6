#include "supervisor/daemon/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cellblock {
namespace {

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string_view name_of(SyscallProfile profile) {
  switch (profile) {
    case SyscallProfile::native:
      return "native";
    case SyscallProfile::node:
      return "node";
    case SyscallProfile::python:
      return "python";
  }
  return "";
}

std::string lines_of(const std::vector<Complaint>& complaints) {
  std::string text;
  for (const Complaint& complaint : complaints) text += to_line(complaint) + "\n";
  return text;
}

std::string weakening_lines(std::string_view indent, const std::vector<std::string>& weakenings) {
  std::string text;
  for (const std::string& weakening : weakenings) {
    text += fmt::format("{}weakened: {}\n", indent, weakening);
  }
  return text;
}

std::string lines_of(const Server& server) {
  std::string line = fmt::format(
      "  {}: {}, profile {}, network {}, {}, {}, {}, {}\n", server.name, server.command.front(),
      name_of(server.syscalls.base), server.network == NetworkMode::none ? "none" : "host",
      counted(server.binds.size(), "path"), counted(server.allow.uids.size(), "user"),
      counted(server.allow.gids.size(), "group"),
      counted(server.allow.tools.size(), "tool pattern"));
  return line + weakening_lines("    ", weakenings_of(server));
}

std::string rejected(const std::string& path, const std::vector<Complaint>& complaints) {
  const auto errors =
      std::ranges::count(complaints, Complaint::Severity::error, &Complaint::severity);
  return fmt::format("{}: not usable, {}\n{}", path,
                     counted(static_cast<std::size_t>(errors), "error"), lines_of(complaints));
}

std::string accepted(const std::string& path, const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  std::string text =
      fmt::format("{}: usable, {}, {}{}\n", path, counted(config.servers.size(), "server"),
                  counted(loaded.warnings.size(), "warning"),
                  config.enabled ? "" : ", switched off (enabled = false)");
  text += lines_of(loaded.warnings);
  text += weakening_lines("  ", weakenings_of(config));
  for (const Server& server : config.servers) text += lines_of(server);
  return text;
}

}  // namespace

std::string check_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded) {
  return loaded ? accepted(path, *loaded) : rejected(path, loaded.error());
}

}  // namespace cellblock
