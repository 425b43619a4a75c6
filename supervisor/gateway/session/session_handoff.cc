#include "supervisor/gateway/session/session_handoff.h"

#include <utility>

#include "policy/encoding/base64.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

std::optional<SessionHandoff> SessionHandoff::of(std::string_view text) {
  const Json said = parse_json(text);
  const Json* memory = member(said, "memory");
  const bool has_unread = member(said, "unread") != nullptr && member(said, "unread")->is_string();
  if (memory == nullptr || !has_unread) return std::nullopt;
  auto unread = base64_bytes(string_in(said, "unread"));
  if (!unread) return std::nullopt;
  SessionHandoff resumption;
  resumption.unread_ = *std::move(unread);
  if (memory->is_null()) return resumption;
  auto replay = SessionReplay::from_kept(*memory);
  if (!replay) return std::nullopt;
  resumption.memory_ = *std::move(replay);
  return resumption;
}

bool SessionHandoff::keep(std::string_view line) {
  if (kept_.size() + line.size() + 1 > max_unread) return false;
  kept_.append(line).push_back('\n');
  return true;
}

std::optional<std::string> SessionHandoff::text(std::string_view unread) const {
  const auto memory = memory_.kept();
  if (!memory || kept_.size() + unread.size() > max_unread) return std::nullopt;
  Json said{{"memory", *memory}, {"unread", base64_text(kept_ + std::string(unread))}};
  std::string text = text_of(said);
  if (text.size() > max_resume) return std::nullopt;
  return text;
}

}  // namespace cellblock::gateway
