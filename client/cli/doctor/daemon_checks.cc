#include "client/cli/doctor/daemon_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/install/program_output.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/programs/installation.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

// ---- judged ----

bool is_own(const DaemonFacts& facts) { return facts.mode == Mode::user; }

DoctorFinding daemon_finding(const DaemonFacts& facts) {
  DoctorFinding finding{.check = "daemon", .need = NeededFor::daemon};
  if (facts.fault) {
    finding.grade = Grade::missing;
    finding.says = *facts.fault;
    finding.remedy = {is_own(facts)
                          ? "systemctl --user enable --now cellblock.socket (without systemd: "
                            "cellblockd --user)"
                          : "sudo systemctl enable --now cellblock.socket (without systemd: sudo "
                            "cellblockd)"};
  } else if (facts.daemon_version.empty()) {
    finding.says = fmt::format("answers at {}, and no server in it is yours to use", facts.socket);
  } else if (facts.daemon_version != facts.version) {
    finding.grade = Grade::weaker;
    finding.need = NeededFor::some;
    finding.says = fmt::format("cellblockd {} answers at {}, and this command is {}",
                               facts.daemon_version, facts.socket, facts.version);
    finding.remedy = {is_own(facts) ? "systemctl --user restart cellblock.service"
                                    : "sudo systemctl restart cellblock.service"};
  } else {
    finding.says = fmt::format("answers at {}, version {}", facts.socket, facts.version);
  }
  return finding;
}

// "PATH:6:19: error: daemon.user: there is no user …"
std::string first_error(const std::string& report) {
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" error: ") != std::string::npos) return line;
  }
  return report.substr(0, report.find('\n'));
}

DoctorFinding configuration_finding(const ConfigurationFacts& facts, bool is_own) {
  DoctorFinding finding{.check = "configuration", .need = NeededFor::daemon};
  if (!facts.is_there) {
    finding.grade = Grade::missing;
    finding.need = NeededFor::some;
    finding.says = fmt::format("there is no {} yet: no server is declared", facts.path);
    finding.remedy = {fmt::format("{}cellblock add NAME -- npx -y PACKAGE", is_own ? "" : "sudo ")};
  } else if (!facts.is_usable) {
    finding.grade = Grade::missing;
    finding.says = first_error(facts.report);
    finding.remedy = {fmt::format("cellblock {} check (shows all that is wrong)",
                                  is_own ? "--user" : "--system")};
  } else {
    finding.says = fmt::format("{} is usable", facts.path);
  }
  return finding;
}

DoctorFinding program_finding(std::string check, const std::string& path,
                              const std::string& servers, const std::string& packages) {
  if (!path.empty()) return {.check = std::move(check), .says = path};
  return {.check = std::move(check),
          .grade = Grade::missing,
          .says = fmt::format("no {} can be added", servers),
          .remedy = {"sudo apt-get install " + packages}};
}

DoctorFinding helpers_finding(const std::vector<std::string>& missing) {
  if (missing.empty()) return {.check = "helpers", .says = "all programs of cellblockd are there"};
  return {.check = "helpers",
          .grade = Grade::missing,
          .need = NeededFor::daemon,
          .says = fmt::format("not there: {}", fmt::join(missing, ", ")),
          .remedy = {"install all programs of cellblock, from one build"}};
}

// ---- gathered ----

// Those that cellblockd opens at every start. They are beside cellblock-tools.
std::vector<std::string> helpers_not_there() {
  constexpr std::array names{"cellblock-supervisor", "cellblock-launcher", "cellblock-gateway",
                             "cellblock-audit",      "cellblock-egress",   "cellblock-probe"};
  const auto& own = own_installation();
  std::vector<std::string> paths{own.daemon};
  for (const char* name : names) {
    paths.push_back((fs::path(own.tools).parent_path() / name).string());
  }
  std::erase_if(paths, [](const auto& path) { return ::access(path.c_str(), F_OK) == 0; });
  return paths;
}

// As `cellblock add` finds it: what root must not run is none.
std::string usable(const std::string& name) { return program_in_path(name).value_or(""); }

std::string chromium_here() {
  constexpr const char* as_recipes_name_it = "/usr/lib/chromium/chromium";
  return ::access(as_recipes_name_it, X_OK) == 0 ? as_recipes_name_it : "";
}

ConfigurationFacts configuration_facts(const Context& context) {
  ConfigurationFacts facts{.path = configuration_of(context).path};
  std::error_code ignored;
  facts.is_there = fs::exists(facts.path, ignored);
  if (!facts.is_there) return facts;
  auto words = daemon_words(context, facts.path);
  words.emplace_back("--check");
  const auto output = output_of(words, Errors::caught);
  constexpr int left_out = static_cast<int>(Exit::left_out);
  facts.is_usable = output && (output->status == 0 || output->status == left_out);
  facts.report = output ? output->text : output.error().text;
  return facts;
}

void ask_daemon_itself(const Context& context, DaemonFacts& facts) {
  if (const auto fault = daemon_fault(context)) {
    facts.fault = fault->text;
    return;
  }
  const auto status = ask_daemon(context, control_method::status, "{}");
  const auto json = Json::parse(status.value_or(""), nullptr, false);
  facts.daemon_version = text_of(json, "version");
}

}  // namespace

std::vector<DoctorFinding> daemon_findings(const DaemonFacts& facts) {
  std::vector<DoctorFinding> findings;
  findings.push_back(helpers_finding(facts.missing_helpers));
  if (facts.configuration) {
    findings.push_back(configuration_finding(*facts.configuration, is_own(facts)));
  }
  findings.push_back(daemon_finding(facts));
  const auto& places = facts.programs;
  const auto& npm = places.node.empty() ? places.node : places.npm;
  findings.push_back(program_finding("node and npm", npm.empty() ? npm : places.node + ", " + npm,
                                     "server from npm", "nodejs npm"));
  findings.push_back(
      program_finding("python3", places.python, "server in Python", "python3 python3-pip"));
  findings.push_back(
      program_finding("chromium", places.chromium, "server that drives a browser", "chromium"));
  return findings;
}

DaemonFacts gather_daemon_facts(const Context& context) {
  DaemonFacts facts{.mode = context.mode, .socket = context.socket, .version = CELLBLOCK_VERSION};
  facts.programs = {.node = usable("node"),
                    .npm = usable("npm"),
                    .python = this_machine().find_program("python3"),
                    .chromium = chromium_here()};
  facts.missing_helpers = helpers_not_there();
  if (context.mode == Mode::user || ::geteuid() == 0) {
    facts.configuration = configuration_facts(context);
  }
  ask_daemon_itself(context, facts);
  return facts;
}

}  // namespace cellblock::cli
