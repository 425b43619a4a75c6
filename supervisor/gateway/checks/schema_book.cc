#include "supervisor/gateway/checks/schema_book.h"

#include <nlohmann/json.hpp>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

std::expected<JsonSchema, std::string> input_schema_of(std::string_view definition) {
  const nlohmann::ordered_json tool = read_tree(definition);
  const auto schema = tool.is_object() ? tool.find("inputSchema") : tool.end();
  if (!tool.is_object() || schema == tool.end()) return std::unexpected("it has none");
  return make_schema(*schema);
}

bool calls_itself_destructive(std::string_view definition) {
  const nlohmann::ordered_json tool = read_tree(definition);
  const auto* annotations = member(tool, "annotations");
  const auto* hint = annotations == nullptr ? nullptr : member(*annotations, "destructiveHint");
  return hint != nullptr && hint->is_boolean() && hint->get<bool>();
}

const SchemaBook::Entry& SchemaBook::of(std::uint32_t server, std::string_view tool,
                                        const Pin& pin) {
  const auto known = entries_.find(Less::View{server, tool});
  if (known != entries_.end() && known->second.of == pin.digest) return known->second;
  if (entries_.size() >= max_kept) entries_.clear();
  Entry entry{.of = pin.digest, .schema = input_schema_of(pin.accepted)};
  entry.takes_every_object = entry.schema && entry.schema->takes_every_object();
  entry.defaults = read_defaults(pin.accepted);
  entry.is_destructive = calls_itself_destructive(pin.accepted);
  return entries_.insert_or_assign(Key{server, std::string(tool)}, std::move(entry)).first->second;
}

}  // namespace cellblock::gateway
