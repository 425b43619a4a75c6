#include "supervisor/gateway/aggregate/server_info.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "policy/base/utf8.h"
#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/aggregate/json_text.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view opening =
    "cellblock: several MCP servers as one, each in a sandbox of its own. A tool or prompt named "
    "SERVER__NAME is that server's. What is quoted below are the servers' own words.\n";
constexpr std::string_view cut = " [...]";

std::string_view cut_to(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = 0;
  while (end < most) {
    const std::size_t length = std::max<std::size_t>(first_code_point(text.substr(end)).length, 1);
    if (end + length > most) break;
    end += length;
  }
  return text.substr(0, end);
}

std::string quote_lines(std::string_view text) {
  const std::string_view kept = cut_to(text, max_own_words);
  std::string quote = "> ";
  for (const char c : kept) {
    if (c != '\r') quote.push_back(c);
    if (c == '\n') quote += "> ";
  }
  if (kept.size() < text.size()) quote += cut;
  return quote + "\n";
}

std::string missing_text(const Members& members, const std::vector<Unavailable>& missing) {
  if (missing.empty()) return {};
  const std::size_t named = std::min(missing.size(), max_missing_named);
  std::string text = "\nNot listed now:\n";
  for (const Unavailable& one : std::span(missing).first(named)) {
    text += "- " + members.name(one.server) + ": " + one.brief + "\n";
  }
  if (named < missing.size()) {
    text += "- and " + std::to_string(missing.size() - named) + " more\n";
  }
  return text;
}

OfferedFeatures everything() {
  return {.tools = true,
          .resources = true,
          .subscribe = true,
          .prompts = true,
          .completions = true,
          .logging = true};
}

void add(OfferedFeatures& all, const OfferedFeatures& more) {
  all.tools |= more.tools;
  all.resources |= more.resources;
  all.subscribe |= more.subscribe;
  all.prompts |= more.prompts;
  all.completions |= more.completions;
  all.logging |= more.logging;
  all.tasks |= more.tasks;
}

OfferedFeatures merged_features(const Members& members, const MergedLists& assortment) {
  OfferedFeatures all;
  for (const std::uint32_t server : members.all()) {
    const auto offer = assortment.offers().find(server);
    add(all, offer == assortment.offers().end() ? everything() : offer->second.features);
  }
  return all;
}

}  // namespace

std::string merged_instructions(const Members& members, const MergedLists& assortment,
                                const std::vector<Unavailable>& missing) {
  std::string text = std::string(opening) + missing_text(members, missing);
  for (const auto& [server, offer] : assortment.offers()) {
    if (offer.instructions.empty()) continue;
    const std::string section =
        "\n## " + members.name(server) + "\n" + quote_lines(offer.instructions);
    if (text.size() + section.size() <= max_merged_instructions) text += section;
  }
  return text;
}

std::string merged_capabilities(const Members& members, const MergedLists& assortment) {
  const OfferedFeatures has = merged_features(members, assortment);
  const Json changes = {{"listChanged", true}};
  Json json = Json::object();
  if (has.tools) json["tools"] = changes;
  if (has.resources) json["resources"] = changes;
  if (has.subscribe) json["resources"]["subscribe"] = true;
  if (has.prompts) json["prompts"] = changes;
  if (has.completions) json["completions"] = Json::object();
  if (has.logging) json["logging"] = Json::object();
  if (has.tasks) json["extensions"][mcp::extension::tasks] = Json::object();
  return text_of(json);
}

}  // namespace cellblock::gateway
