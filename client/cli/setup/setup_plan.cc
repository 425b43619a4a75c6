#include "client/cli/setup/setup_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "client/cli/import/propose/propose.h"
#include "client/cli/terminal/exit_code.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

std::vector<std::string> with_consent(std::vector<std::string> words, bool agrees) {
  if (agrees) words.emplace_back("--yes");
  return words;
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most_columns = 200;
  return cut_to(safe_line(fmt::format("{}", fmt::join(names, ", "))), most_columns);
}

}  // namespace

bool machine_has_cells(int doctor_exit) {
  const auto exit = static_cast<Exit>(doctor_exit);
  return exit == Exit::ok || exit == Exit::weaker || exit == Exit::unreachable;
}

ServiceStep service_step(const ServiceFacts& facts) {
  if (facts.serves) return ServiceStep::nothing;
  if (!facts.has_manager) return ServiceStep::no_manager;
  return facts.has_unit ? ServiceStep::enable : ServiceStep::no_unit;
}

std::string service_advice(ServiceStep step) {
  constexpr const char* by_hand =
      "run `cellblockd --user` in another terminal, or where your session starts its programs";
  switch (step) {
    case ServiceStep::no_unit:
      return fmt::format("systemd does not know cellblock's user units: {}", by_hand);
    case ServiceStep::no_manager:
      return fmt::format("no systemd runs services of yours: {}", by_hand);
    case ServiceStep::nothing:
    case ServiceStep::enable:
      break;
  }
  return {};
}

HostServers told_apart(HostServers servers, const std::vector<std::string>& declared) {
  const auto is_missing = [&](const std::string& name) {
    return std::ranges::find(declared, server_name_for(name)) == declared.end();
  };
  const auto present = std::ranges::stable_partition(servers.names, is_missing);
  servers.present.assign(present.begin(), present.end());
  servers.names.erase(present.begin(), present.end());
  return servers;
}

std::string host_line(const HostServers& servers) {
  return fmt::format("{}, {}: {}", servers.host, safe_line(servers.file),
                     names_text(servers.names));
}

std::string present_line(const HostServers& servers) {
  return fmt::format(
      "{}, {}: cellblock has {} already, declared otherwise than there; `cellblock import "
      "--into-host` says what differs",
      servers.host, safe_line(servers.file), names_text(servers.present));
}

std::vector<std::string> import_words(const std::string& file, bool agrees) {
  return with_consent({"--user", "import", file, "--install"}, agrees);
}

std::vector<std::string> connect_words(bool agrees) {
  return with_consent({"--user", "import", "--into-host"}, agrees);
}

}  // namespace cellblock::cli
