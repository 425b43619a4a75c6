#include "client/cli/common/server_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/terminal/json_text.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {

void MissingServers::see(std::string_view frame) {
  if (frame.find(mcp::meta_key::unavailable) == std::string_view::npos) return;
  const auto message = Json::parse(frame, nullptr, false);
  if (!message.is_object()) return;
  const Json meta = object_of(object_of(message, "result"), "_meta");
  for (const Json& one : objects_of(meta, mcp::meta_key::unavailable)) {
    reasons_[text_of(one, "server")] = text_of(one, "brief");
  }
}

std::string MissingServers::take() {
  std::string text;
  for (const auto& [server, reason] : std::exchange(reasons_, {})) {
    text +=
        fmt::format("not listed: {0} ({1}); \"cellblock status {0}\" tells more\n", server, reason);
  }
  return text;
}

}  // namespace cellblock::cli
