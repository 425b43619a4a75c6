#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What `cellblock top` takes from one answer to cellblock/status. Texts are escaped.
namespace cellblock::cli {

struct CellSample {
  std::int64_t uptime_ms = 0;  ///< by the gateway's clock, as all that is counted
  std::int64_t calls = 0;
  std::optional<std::int64_t> cpu_ms;        ///< none: not known
  std::optional<std::int64_t> memory_bytes;  ///< likewise
};

struct ServerSample {
  std::string name;
  std::string state;
  std::map<std::string, CellSample> cells;  ///< by number
  std::int64_t refused = 0;
  std::string last_failure;  ///< empty: none
};

struct Sample {
  std::string headline;  ///< "cellblock 0.1.0, system mode"
  std::vector<ServerSample> servers;
};

/// nullopt: that is no status.
std::optional<Sample> read_sample(std::string_view status_json);

}  // namespace cellblock::cli
