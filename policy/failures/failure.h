#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/end_verdict.h"
#include "policy/failures/failure_code.h"

/// cellblock's own failures as data: a stable code, a sentence for a person, and the facts. Turned
/// into replies of each form by the functions below.
namespace cellblock {

struct Failure {
  FailureCode code{};
  std::string message;  ///< one sentence
  std::string server;
  std::string verdict;                   ///< server_failed: its name ("early_crash"), else empty
  std::string cause;                     ///< server_failed: what end_verdict.h says, else empty
  std::string advice;                    ///< where more is known than advice_for(code); else empty
  CellFacts facts;                       ///< server_failed
  std::vector<std::string> stderr_tail;  ///< already escaped; the last 10 lines are sent
  std::optional<std::chrono::milliseconds> retry_after;  ///< rate_limited
};

/// The `data` member of docs/errors.md as raw JSON; also `failure` in cellblock/ended.
std::string failure_data(const Failure& failure);
/// The `facts` object of docs/errors.md as raw JSON.
std::string facts_json(const CellFacts& facts);

/// The failure's own advice, else the advice of its code.
std::string_view advice_of(const Failure& failure);

/// A JSON-RPC error response. `id` is raw JSON; empty: the id is omitted.
std::string error_reply(std::string_view id, const Failure& failure);

/// For tools/call: a result with isError, so that the model sees the sentence and the advice.
enum class Era : std::uint8_t { legacy, modern };
std::string tool_error_reply(std::string_view id, const Failure& failure, Era era);

}  // namespace cellblock
