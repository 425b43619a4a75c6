#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "policy/mcp/methods.h"

namespace cellblock::cli {

enum class ListKind : std::uint8_t { tools, resources, templates, prompts };

/// What is said and read of one of a server's lists.
struct ListFacts {
  ListKind kind;
  std::string_view word;      ///< the command
  std::string_view singular;  ///< of `describe`
  std::string_view method;
  std::string_view member;  ///< of the result
  std::string_view key;     ///< of an element: what it is called by
};

inline constexpr std::array list_table = {
    ListFacts{ListKind::tools, "tools", "tool", mcp::method::tools_list, "tools", "name"},
    ListFacts{ListKind::resources, "resources", "resource", mcp::method::resources_list,
              "resources", "uri"},
    ListFacts{ListKind::templates, "templates", "template", mcp::method::templates_list,
              "resourceTemplates", "uriTemplate"},
    ListFacts{ListKind::prompts, "prompts", "prompt", mcp::method::prompts_list, "prompts", "name"},
};

constexpr const ListFacts& facts_of(ListKind kind) {
  return list_table[static_cast<std::size_t>(kind)];
}

}  // namespace cellblock::cli
