#include "client/cli/audit/log_path.h"

#include <fstream>
#include <iterator>
#include <string>

#include "client/cli/common/own_directory.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock::cli {
namespace {

ConfigText text_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Complaints complaints;
  return parse_config_text(text, path, FileRole::main, complaints);
}

}  // namespace

std::string audit_log_path(const Configuration& configuration) {
  const ConfigText config = text_of(configuration.path);
  if (const auto log = config.daemon.text("audit_log")) return log->value;
  if (configuration.mode != Mode::user) return "/var/log/cellblock/audit.jsonl";
  if (const auto state = config.daemon.text("state_directory"))
    return state->value + "/audit.jsonl";
  return own_directory(state_home) + "/cellblock/audit.jsonl";
}

}  // namespace cellblock::cli
