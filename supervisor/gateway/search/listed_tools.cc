#include "supervisor/gateway/search/listed_tools.h"

#include <algorithm>

#include "policy/json/json_text.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/public_name.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/search/search_tools.h"

namespace cellblock::gateway {
namespace {

void add_element(std::string& list, std::string_view element) {
  if (!list.empty()) list.push_back(',');
  list += element;
}

/// All but the tools and the cursor, each with a comma before it.
std::string other_members(const std::vector<RawMember>& members) {
  std::string others;
  for (const RawMember& member : members) {
    if (member.name == "tools" || member.name == "nextCursor") continue;
    others.append(",").append(member.key).append(":").append(member.value);
  }
  return others;
}

std::string unavailable_in(const std::vector<RawMember>& members) {
  const RawMember* meta = find_member(members, "_meta");
  const auto inside = meta != nullptr ? raw_members(meta->value) : std::nullopt;
  const RawMember* found = inside ? find_member(*inside, mcp::meta_key::unavailable) : nullptr;
  return found != nullptr ? std::string(found->value) : std::string();
}

std::size_t bytes_of(const ListedDefinition& tool) {
  const ToolDocument& document = tool.document;
  return sizeof(tool) + tool.json.size() + document.name.size() + document.title.size() +
         document.description.size() + document.parameters.size();
}

}  // namespace

std::optional<std::string> ListedTools::take(std::string_view result) {
  const auto members = raw_members(result);
  if (!members) return std::nullopt;
  bytes_ += result.size();
  last_ = other_members(*members);
  unavailable_ = unavailable_in(*members);
  const RawMember* tools = find_member(*members, "tools");
  const auto definitions = tools != nullptr ? raw_elements(tools->value) : std::nullopt;
  if (!definitions) return std::nullopt;
  for (const std::string_view definition : *definitions) take_tool(definition);
  const RawMember* cursor = find_member(*members, "nextCursor");
  if (cursor == nullptr || !is_raw_string(cursor->value)) return std::nullopt;
  is_cut_ = ++pages_ >= max_pages || bytes_ > max_bytes || tools_.size() >= max_tools;
  return is_cut_ ? std::nullopt : std::optional(std::string(cursor->value));
}

void ListedTools::take_tool(std::string_view definition) {
  ToolDocument document = tool_document(definition);
  // Where results are not bounded, one that is called so is the server's, and not to be listed.
  if (definition == reading_tool()) has_reading_tool_ = true;
  if (document.name.empty() || is_own_tool(document.name)) return;
  tools_.push_back({std::string(definition), std::move(document)});
  held_bytes_ += bytes_of(tools_.back());
}

std::string ListedTools::shown(const IsListed& is_listed,
                               const std::vector<std::string>& servers) const {
  std::string list;
  for (const ListedDefinition& tool : tools_) {
    if (is_listed(tool.document.name)) add_element(list, tool.json);
  }
  add_element(list, finding_tool(servers));
  add_element(list, calling_tool());
  if (has_reading_tool_) add_element(list, reading_tool());
  return R"({"tools":[)" + list + "]" + last_ + "}";
}

namespace {

bool is_named_so(const NamePattern& pattern, std::string_view name) {
  return pattern.is_prefix ? name.starts_with(pattern.text) : name == pattern.text;
}

bool is_shown_so(const Server& server, const NamePattern& pattern, std::string_view shown) {
  const auto plain = split_plain_name(shown);
  if (plain) return plain->server == server.name && is_named_so(pattern, plain->original);
  return !pattern.is_prefix && public_name(server.name, pattern.text) == shown;
}

}  // namespace

bool is_always_listed(const Server& server, std::string_view name) {
  return std::ranges::any_of(server.always_listed, [name](const NamePattern& pattern) {
    return is_named_so(pattern, name);
  });
}

bool is_always_listed(const Config& config, std::string_view shown) {
  return std::ranges::any_of(config.servers, [shown](const Server& server) {
    return std::ranges::any_of(server.always_listed, [&](const NamePattern& pattern) {
      return is_shown_so(server, pattern, shown);
    });
  });
}

std::vector<std::string> servers_in(const ListedTools& listed) {
  std::vector<std::string> servers;
  for (const ListedDefinition& tool : listed.tools()) {
    const auto plain = split_plain_name(tool.document.name);
    const bool is_next = plain && (servers.empty() || servers.back() != plain->server);
    if (is_next) servers.emplace_back(plain->server);
  }
  return servers;
}

}  // namespace cellblock::gateway
