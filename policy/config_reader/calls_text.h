#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config_reader/located.h"
#include "policy/config_reader/results_text.h"

/// What the TOML says about calls, as it is written.
namespace cellblock {

struct CallBoundsText {
  Maybe<std::string> rate;
  Maybe<std::int64_t> burst;
  Maybe<std::int64_t> in_flight;
};

/// `[calls]`
struct UserCallsText {
  CallBoundsText user;
  CallBoundsText session;
};

/// `[server.NAME.calls]`
struct ServerCallsText {
  CallBoundsText bounds;
  Maybe<std::int64_t> queue;
  Maybe<std::string> queue_time;
  Maybe<std::string> deadline;
  Maybe<std::string> max_deadline;
  Maybe<std::int64_t> retries;
};

/// `[server.NAME.tool.TOOL]`
struct ToolCallsText {
  TextAt name;
  CallBoundsText bounds;
  Maybe<std::string> deadline;
  Maybe<std::string> max_deadline;
  Maybe<bool> idempotent;
  std::optional<ResultBoundsText> results;
};

}  // namespace cellblock
