#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"

/// The lines that the gateway writes itself, without their newline.
namespace cellblock::gateway {

/// `id` is raw JSON; empty: it is left out, since the request's could not be read.
std::string protocol_error(std::string_view id, int code, std::string_view message);

/// `result` is raw JSON.
std::string result_reply(std::string_view id, std::string_view result);

struct AttachedReply {
  std::string_view server;  ///< empty: all of them, so none is said
  std::uint64_t session = 0;
  std::uint64_t cell = 0;         ///< 0: none yet, so none is said
  std::string_view role;          ///< empty: none was taken, so none is said
  std::optional<bool> stdio;      ///< said when it was asked for
  std::optional<bool> journal;    ///< likewise
  std::optional<bool> workspace;  ///< likewise
  std::optional<bool> probe;      ///< likewise
};
std::string attached_reply(std::string_view id, const AttachedReply& reply);

/// notifications/cancelled for one of our own ids.
std::string cancelled_notification(std::uint64_t id, std::string_view reason);

/// notifications/progress of ours, about a call that the server has not been sent. `token` is raw
/// JSON. `step`: rises with each of one call; together they are less than any step of a server's.
std::string waiting_notification(std::string_view token, std::uint32_t step,
                                 std::string_view message);

/// cellblock/ended; `failure` may be null.
std::string ended_notification(std::string_view reason, const Failure* failure);
/// Likewise, of a session that can go on. `resume` is raw JSON.
std::string resumable_notification(std::string_view reason, std::string_view resume);

}  // namespace cellblock::gateway
