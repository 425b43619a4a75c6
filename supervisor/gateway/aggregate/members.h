#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);
/// The text of a JSON string; "" of anything else.
std::string text_from(std::string_view raw);

/// The servers that an aggregate is made from, in the order of their places.
class Members {
 public:
  Members(const Config& config, const SessionAccess& access);

  /// The configuration, or what of it may be used, has changed.
  void renew();

  const std::vector<std::uint32_t>& all() const { return all_; }
  bool contains(std::uint32_t index) const { return std::ranges::binary_search(all_, index); }
  const Server& server(std::uint32_t index) const { return config_.servers[index]; }
  const Rights& rights(std::uint32_t index) const { return access_.rights(index); }
  const std::string& name(std::uint32_t index) const { return server(index).name; }
  /// What is not permitted is not found, just as what does not exist.
  std::optional<std::uint32_t> find(std::string_view name) const;

 private:
  const Config& config_;
  const SessionAccess& access_;
  std::vector<std::uint32_t> all_;
};

}  // namespace cellblock::gateway
