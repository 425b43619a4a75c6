#include "supervisor/gateway/route/passive_discovery.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/upstream/answer_edits.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

void learn_list(Catalogues& catalogues, std::uint32_t server, ListKind kind,
                std::string_view result) {
  const Json json = read_tree(result);
  if (!json.is_object() || json.contains("nextCursor")) return;
  const auto items = json.find(mcp::facts_of(kind).items);
  if (items == json.end()) return;
  catalogues.learn_list(server, kind, write_tree(*items));
}

}  // namespace

void learn_from_answer(Catalogues& catalogues, std::uint32_t server, const Call& call,
                       std::string_view result) {
  if (call.kind == CallKind::initialize)
    return catalogues.learn_answer(server, Era::legacy, result);
  if (call.kind == CallKind::discover) return catalogues.learn_answer(server, Era::modern, result);
  const auto kind = list_of(call.kind);
  if (!kind || call.has_cursor || catalogues.find(server) == nullptr) return;
  learn_list(catalogues, server, *kind, result);
}

}  // namespace cellblock::gateway
