#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/os/clock.h"

/// What a host asks about results that are kept: the gateway answers, no server hears of it.
namespace cellblock::gateway {

enum class ReadOutcome : std::uint8_t { shown, refused };

struct ResultAnswer {
  std::string reply;  ///< a whole message, without its newline
  ReadOutcome outcome = ReadOutcome::shown;
};

/// A call of the reading tool, or resources/read of what only cellblock has.
bool is_about_kept(std::string_view line, const Message& message);

/// `message` is about it. `longest`: bytes that a line to the host may have.
ResultAnswer answer_about_kept(std::string_view line, const Message& message, KeptResults& kept,
                               std::size_t longest, Time now);

}  // namespace cellblock::gateway
