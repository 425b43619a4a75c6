#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellblock/types.h"
#include "policy/mcp/methods.h"

/// Reads the pages of MCP's lists, and composes what asks for one.
namespace cellblock::client {

template <class Item>
struct ListPage {
  std::vector<Item> items;
  std::string next_cursor;  ///< empty: the last page
};

/// Which list has such items.
template <class Item>
inline constexpr mcp::ListKind list_of = mcp::ListKind::tools;
template <>
inline constexpr mcp::ListKind list_of<Resource> = mcp::ListKind::resources;
template <>
inline constexpr mcp::ListKind list_of<ResourceTemplate> = mcp::ListKind::resource_templates;
template <>
inline constexpr mcp::ListKind list_of<Prompt> = mcp::ListKind::prompts;

/// protocol, if the server's text is no such list, or an item has not what it is called by. For
/// Tool, Resource, ResourceTemplate and Prompt.
template <class Item>
Result<ListPage<Item>> read_page(std::string_view result);

std::string page_params(std::string_view cursor);

}  // namespace cellblock::client
