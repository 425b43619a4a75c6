#include "supervisor/gateway/checks/list_pages.h"

#include <utility>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void ListPages::want_what_is_promised(const Json& capabilities) {
  if (capabilities.contains("prompts")) wanted_.push_back(ListKind::prompts);
  if (capabilities.contains("resources")) {
    wanted_.push_back(ListKind::resource_templates);
    wanted_.push_back(ListKind::resources);
  }
  if (capabilities.contains("tools")) wanted_.push_back(ListKind::tools);
}

std::optional<ListPages::Page> ListPages::next() const {
  if (wanted_.empty()) return std::nullopt;
  return Page{wanted_.back(), cursor_};
}

void ListPages::list_done() {
  wanted_.pop_back();
  cursor_.reset();
  pages_ = 0;
}

void ListPages::skip() {
  if (!wanted_.empty()) list_done();
}

// A cursor may be empty. One that comes back is no way forward.
void ListPages::follow(const Json& result) {
  const auto found = result.find("nextCursor");
  if (found == result.end() || !found->is_string()) return list_done();
  const Json& items = items_.at(static_cast<std::size_t>(wanted_.back()));
  auto cursor = found->get<std::string>();
  if (++pages_ == max_pages || items.size() > max_items || cursor_ == cursor) {
    ++endless_;
    return list_done();
  }
  cursor_ = std::move(cursor);
}

ListPages::Taken ListPages::take(std::string_view result) {
  if (wanted_.empty()) return Taken::good;
  bytes_ += result.size();
  if (bytes_ > max_bytes_) return Taken::too_many_bytes;
  Json page = read_tree(result);
  const ListKind kind = wanted_.back();
  const auto found = page.is_object() ? page.find(mcp::facts_of(kind).items) : page.end();
  if (!page.is_object() || found == page.end() || !found->is_array()) return Taken::no_list;
  Json& items = items_.at(static_cast<std::size_t>(kind));
  if (!items.is_array()) items = Json::array();
  for (Json& item : *found) items.push_back(std::move(item));
  follow(page);
  return Taken::good;
}

Findings ListPages::finish(Catalogue& into) {
  Findings findings;
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    findings.add(clean_items(items_.at(i), static_cast<ListKind>(i)));
    into.lists.at(i) = write_tree(items_.at(i));
    items_.at(i) = Json();
  }
  findings[Finding::too_many] += endless_;
  return findings;
}

}  // namespace cellblock::gateway
