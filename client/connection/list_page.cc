#include "client/connection/list_page.h"

#include <fmt/format.h>

#include <utility>

#include "client/connection/rpc_text.h"
#include "policy/base/result.h"
#include "policy/json/json_text.h"

namespace cellblock::client {
namespace {

using Members = std::vector<RawMember>;

// What an item of each list has besides its identity.

Tool item_of(const Members& members, std::string name, std::string_view json, Tool*) {
  return {.name = std::move(name),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

Prompt item_of(const Members& members, std::string name, std::string_view json, Prompt*) {
  return {.name = std::move(name),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

Resource item_of(const Members& members, std::string uri, std::string_view json, Resource*) {
  return {.uri = std::move(uri),
          .name = member_text(members, "name"),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

ResourceTemplate item_of(const Members& members, std::string uri_template, std::string_view json,
                         ResourceTemplate*) {
  return {.uri_template = std::move(uri_template),
          .name = member_text(members, "name"),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

std::unexpected<Error> no_list(const mcp::List& list) {
  return std::unexpected(Error{.code = ErrorCode::protocol,
                               .text = fmt::format("the answer holds no list of {}", list.items)});
}

std::unexpected<Error> no_identity(const mcp::List& list) {
  return std::unexpected(
      Error{.code = ErrorCode::protocol,
            .text = fmt::format("one of the {} has no {}", list.items, list.identity)});
}

}  // namespace

template <class Item>
Result<ListPage<Item>> read_page(std::string_view result) {
  const auto& list = mcp::facts_of(list_of<Item>);
  const auto members = raw_members(result);
  if (!members) return no_list(list);
  const auto* const items = find_member(*members, list.items);
  const auto elements = items == nullptr ? std::nullopt : raw_elements(items->value);
  if (!elements) return no_list(list);
  ListPage<Item> page{.items = {}, .next_cursor = member_text(*members, "nextCursor")};
  for (const auto element : *elements) {
    const auto item = raw_members(element);
    auto identity = item ? member_text(*item, list.identity) : std::string();
    if (identity.empty()) return no_identity(list);
    // In C, and in what is built on it, this would be another one's.
    if (identity.contains('\0')) continue;
    page.items.push_back(item_of(*item, std::move(identity), element, static_cast<Item*>(nullptr)));
  }
  return page;
}

template Result<ListPage<Tool>> read_page(std::string_view);
template Result<ListPage<Resource>> read_page(std::string_view);
template Result<ListPage<ResourceTemplate>> read_page(std::string_view);
template Result<ListPage<Prompt>> read_page(std::string_view);

std::string page_params(std::string_view cursor) {
  return cursor.empty() ? "{}" : fmt::format(R"({{"cursor":{}}})", json_string(cursor));
}

}  // namespace cellblock::client
