#include "client/cli/purge/data_places.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock::cli {
namespace {

constexpr const char* default_state = "/var/lib/cellblock";
constexpr const char* default_log = "/var/log/cellblock/audit.jsonl";
constexpr const char* verified_log = "/var/lib/cellblock-audit";  // of cellblock-audit.service

}  // namespace

Result<DataPlaces> data_places_in(std::string_view text, const std::string& path, FoundBy by) {
  Complaints complaints;
  const ConfigText config = parse_config_text(text, path, FileRole::main, complaints);
  if (complaints.error_count() != 0) {
    return fail(path +
                " has errors, so it is not known which places it means: run cellblock check");
  }
  const auto state = config.daemon.text("state_directory");
  const auto log = config.daemon.text("audit_log");
  // The timer's directory belongs to the system's own configuration, not to one that is named.
  return DataPlaces{.state_directory = state ? state->value : default_state,
                    .audit_log = log ? log->value : default_log,
                    .anchors = by == FoundBy::place ? verified_log : ""};
}

Result<DataPlaces> data_places(const Configuration& configuration) {
  errno = 0;
  std::ifstream file(configuration.path, std::ios::binary);
  const int error = file ? 0 : errno;
  const bool may_be_missing = configuration.by == FoundBy::place && error == ENOENT;
  if (error != 0 && !may_be_missing) {
    return fail(fmt::format("{}: {}", configuration.path, std::generic_category().message(error)));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return data_places_in(text, configuration.path, configuration.by);
}

}  // namespace cellblock::cli
