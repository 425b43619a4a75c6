#include "supervisor/gateway/search/find_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/json/json_text.h"
#include "policy/tool_search/tool_ranking.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t longest_find = 16U << 10;
constexpr std::size_t most_unavailable = 16;

std::unexpected<Failure> bad_find(std::string_view why) {
  return std::unexpected(plain_failure(
      FailureCode::invalid_arguments,
      fmt::format("{}; allowed: {{\"words\": 1 to {} bytes of text, \"limit\": 1 to {}, or none}}",
                  why, max_find_words, max_find_limit)));
}

std::string found_description(const ToolDocument& document) {
  const std::string& text = document.description;
  if (text.size() <= max_found_description) return json_quoted(text);
  return json_quoted(text.substr(0, character_boundary(text, max_found_description)) + "…");
}

std::string found_tool(const ListedDefinition& tool) {
  std::string text = R"({"name":)" + json_quoted(tool.document.name) + R"(,"description":)" +
                     found_description(tool.document);
  const auto members = raw_members(tool.json);
  for (const char* name : {"inputSchema", "annotations"}) {
    const RawMember* member = members ? find_member(*members, name) : nullptr;
    if (member != nullptr) text += fmt::format(R"(,"{}":{})", name, member->value);
  }
  return text + "}";
}

std::string named_tool(const ListedDefinition& tool) {
  return fmt::format(R"({{"name":{},"definition_bytes":{}}})", json_quoted(tool.document.name),
                     tool.json.size());
}

Ranking ranking_of(const FindRequest& request, const ListedTools& listed) {
  std::vector<ToolDocument> documents;
  documents.reserve(listed.tools().size());
  for (const ListedDefinition& tool : listed.tools()) documents.push_back(tool.document);
  return rank_tools(documents, request.words, request.limit);
}

/// The matches as they have room, the best one first.
std::string found_tools(const std::vector<RankedTool>& matches, const ListedTools& listed) {
  std::string list;
  for (const RankedTool& match : matches) {
    const ListedDefinition& tool = listed.tools()[match.index];
    std::string text = found_tool(tool);
    const std::size_t room = list.empty() ? max_first_bytes : max_found_bytes;
    if (list.size() + text.size() > room) text = named_tool(tool);
    list.append(list.empty() ? "" : ",").append(text);
  }
  return list;
}

/// Their names, and why in a few words; empty: none is missing.
std::string missing_servers(const ListedTools& listed) {
  const Json all = parse_json(listed.unavailable());
  if (!all.is_array() || all.empty()) return {};
  Json named = Json::array();
  for (const Json& one : all) {
    if (named.size() == most_unavailable) break;
    named.push_back({{"server", string_in(one, "server")}, {"reason", string_in(one, "brief")}});
  }
  return R"(,"unavailable":)" + text_of(named);
}

}  // namespace

std::expected<FindRequest, Failure> read_find(std::string_view params) {
  if (params.size() > longest_find) return bad_find("too long");
  const Json tree = read_tree(params);
  const Json* arguments = tree.is_object() ? object_in(tree, "arguments") : nullptr;
  if (arguments == nullptr) return bad_find("there are no arguments");
  for (const auto& [name, value] : arguments->items()) {
    if (name != "words" && name != "limit") return bad_find("an argument is not known");
  }
  FindRequest request{.words = string_in(*arguments, "words")};
  if (request.words.empty() || request.words.size() > max_find_words) {
    return bad_find("\"words\" is no text, or too long");
  }
  const Json* limit = member(*arguments, "limit");
  if (limit == nullptr || limit->is_null()) return request;
  if (!limit->is_number_unsigned()) return bad_find("\"limit\" is no number");
  request.limit = limit->get<std::size_t>();
  if (request.limit == 0 || request.limit > max_find_limit) {
    return bad_find("\"limit\" is out of its bounds");
  }
  return request;
}

std::string find_result(const FindRequest& request, const ListedTools& listed, ListOf of, Era era) {
  const Ranking ranking = ranking_of(request, listed);
  const std::string tools = found_tools(ranking.tools, listed);
  std::string found = fmt::format(R"({{"tools":[{}],"searched":{})", tools, listed.tools().size());
  if (listed.is_cut() || ranking.is_cut) found += R"(,"is_cut":true)";
  if (tools.empty()) {
    found += R"(,"advice":"No tool has these words: try others, or the name of a server.")";
  }
  if (of == ListOf::all_servers) found += missing_servers(listed);
  found += "}";
  return fmt::format(R"({{"content":[{{"type":"text","text":{}}}],"structuredContent":{}{}}})",
                     json_quoted(found), found,
                     era == Era::modern ? R"(,"resultType":"complete")" : "");
}

}  // namespace cellblock::gateway
