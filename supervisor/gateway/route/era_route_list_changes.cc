#include <fmt/format.h>

#include <string>
#include <utility>

#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/list_changes.h"
#include "supervisor/gateway/message/tree_reader.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/route/era_route.h"

// An era route's part in telling its host what nobody at the server knows of: that a definition is
// shown now which was withheld, or the other way round.
namespace cellblock::gateway {

void EraRoute::note_announced(std::string_view line, const Message& message) {
  if (cell_era_ == Era::modern || !upstream_->is_initialize(message.id.in(line))) return;
  const Json result = read_tree(message.result.in(line));
  const Json* capabilities = result.is_object() ? object_in(result, "capabilities") : nullptr;
  for (std::size_t i = 0; i < announced_.size(); ++i) {
    announced_.at(i) = capabilities != nullptr &&
                       offers(*capabilities, mcp::list_changes.at(i).capability, "listChanged");
  }
}

// A modern host hears it on the streams where it wants to; a legacy one where the server has said
// that there is such a notification, and a bridge on its host's behalf.
void EraRoute::list_changed(mcp::ListKind kind, Time now) {
  if (!upstream_ || cell_ == nullptr) return;
  const mcp::ListChange& change = mcp::change_of(kind);
  if (cell_era_ == Era::modern) {
    for (const std::uint64_t stream : upstream_->streams_about(kind)) {
      say_as_cell(
          fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"{}":{}}}}}}})",
                      change.notification, mcp::meta_key::subscription, stream),
          now);
    }
  } else if (announced_.at(static_cast<std::size_t>(&change - mcp::list_changes.data()))) {
    say_as_cell(fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", change.notification), now);
  }
}

void EraRoute::say_as_cell(std::string text, Time now) {
  const WrittenMessage written(parts_.shared.scanner, std::move(text));
  if (!written.message()) return;
  upstream_->from_cell(written.line(), *written.message(), now);
  if (bridge_) drain(now);
  answered(now);
}

}  // namespace cellblock::gateway
