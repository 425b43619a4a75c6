#include "supervisor/gateway/conversation/new_call.h"

#include <string>

#include "supervisor/gateway/leg/era_of.h"

namespace cellblock::gateway {

Call call_of(std::string_view line, const Message& message, std::uint64_t ours, Time now) {
  const CallKind kind = kind_of(message.method);
  return Call{.ours = ours,
              .theirs = std::string(message.id.in(line)),
              .progress_token = std::string(message.meta_progress_token.in(line)),
              .tool = kind == CallKind::tool_call ? message.name_text : std::string{},
              .kind = kind,
              .era = era_of(message),
              .began = now,
              .has_cursor = !message.cursor.empty()};
}

}  // namespace cellblock::gateway
