#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/tool_search/tool_ranking.h"

/// A list of tools as it came from below: what the host may use, narrowed and cleaned already.
namespace cellblock::gateway {

struct ListedDefinition {
  std::string json;  ///< raw
  ToolDocument document;
};

class ListedTools {
 public:
  static constexpr std::size_t max_pages = 256;
  static constexpr std::size_t max_bytes = 32U << 20;  ///< of all pages
  static constexpr std::size_t max_tools = 20'000;

  /// `result`: of a tools/list, raw. The cursor of the next page, raw JSON; nullopt: that was the
  /// last one, or there is more than is taken.
  std::optional<std::string> take(std::string_view result);

  /// Without cellblock's own.
  const std::vector<ListedDefinition>& tools() const { return tools_; }
  /// More than was taken; the rest is not found.
  bool is_cut() const { return is_cut_; }
  /// What all of this takes in memory, nearly.
  std::size_t held_bytes() const { return held_bytes_ + last_.size() + unavailable_.size(); }
  /// Which servers are missing, as the last page's `_meta` says it, raw; or empty. Of a list that a
  /// server wrote it is that server's word.
  const std::string& unavailable() const { return unavailable_; }

  using IsListed = std::function<bool(std::string_view name)>;
  /// The result of a tools/list: the last page's members, and of the tools those that are listed,
  /// the two of the search, and the one that reads on where the list has it.
  std::string shown(const IsListed& is_listed, const std::vector<std::string>& servers) const;

 private:
  void take_tool(std::string_view definition);

  std::vector<ListedDefinition> tools_;
  bool has_reading_tool_ = false;
  std::string last_;  ///< of the last page, what is not its tools
  std::string unavailable_;
  std::size_t held_bytes_ = 0;  ///< of the tools
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
  bool is_cut_ = false;
};

/// Whether a tool of that server is listed as itself. `name`: the server's own.
bool is_always_listed(const Server& server, std::string_view name);
/// `shown`: as it stands in the list of all servers. A name that had to be shortened is known again
/// where the pattern is exact.
bool is_always_listed(const Config& config, std::string_view shown);

/// The servers of the listed tools, in the list's order.
std::vector<std::string> servers_in(const ListedTools& listed);

}  // namespace cellblock::gateway
