#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/result_bounds.h"

/// What the configuration says about results: values only.
namespace cellblock {

struct ToolResults {
  std::string name;
  ResultBounds bounds;
  bool operator==(const ToolResults&) const = default;
};

struct ServerResults {
  ResultBounds bounds;
  std::vector<ToolResults> tools;  ///< sorted by name: those that differ
  bool operator==(const ServerResults&) const = default;
};

/// How much of what is left out is kept, to be read on.
struct ResultKeeping {
  std::uint32_t most = 64;                      ///< results, of one session; 0: nothing is kept
  std::uint64_t bytes = 64ULL << 20;            ///< of one session
  std::uint64_t bytes_per_user = 256ULL << 20;  ///< of all sessions of one user
  std::chrono::milliseconds age{3'600'000};
  bool operator==(const ResultKeeping&) const = default;
};

/// `tool` empty: of what is no tool's.
const ResultBounds& bounds_of(const ServerResults& results, std::string_view tool);

/// Whether any result of the server may be bounded.
bool bounds_any(const ServerResults& results);

}  // namespace cellblock
