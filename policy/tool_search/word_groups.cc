#include "policy/tool_search/word_groups.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "policy/tool_search/search_terms.h"

namespace cellblock {
namespace {

// Of computing in general: what only one kind of server has is not in here, nor what means
// something else as often.
constexpr std::array<std::string_view, 25> groups{
    "folder directory",
    "picture image photo",
    "rename move",
    "delete remove erase",
    "create make new",
    "write save store",
    "show get view display",
    "find search look locate",
    "run execute start launch",
    "command shell terminal",
    "change edit update modify replace",
    "send post publish",
    "answer reply respond",
    "open navigate visit",
    "website site page",
    "bug issue ticket",
    "size big large",
    "error failure exception",
    "program process application",
    "slow performance",
    "user person people",
    "comment note",
    "compress zip gzip archive",
    "copy duplicate clone fork",
    "stop kill terminate end",
};

constexpr std::size_t words_in_groups = [] {
  std::size_t count = groups.size();
  for (const std::string_view group : groups) {
    count += static_cast<std::size_t>(std::ranges::count(group, ' '));
  }
  return count;
}();

using Entry = std::pair<std::string, unsigned>;

std::array<Entry, words_in_groups> sorted_entries() {
  std::array<Entry, words_in_groups> entries;
  std::size_t at = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::string& term : terms_of(groups.at(i), words_in_groups)) {
      entries.at(at++) = {std::move(term), static_cast<unsigned>(i + 1)};
    }
  }
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

unsigned word_group(std::string_view term) {
  static const auto entries = sorted_entries();
  const auto found = std::ranges::lower_bound(
      entries, term, {}, [](const Entry& entry) { return std::string_view(entry.first); });
  return found != entries.end() && found->first == term ? found->second : 0;
}

}  // namespace cellblock
