#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/refusal_advice.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"

namespace cellblock::gateway {

/// Adds to what servers report of declared paths, and of the network, why this user's cells cannot
/// use them, and what to do. Pure.
class RefusalReports {
 public:
  /// Which outlives it.
  explicit RefusalReports(const Config& config) : config_(config) {}

  /// Sets the uid of the cells' user; nothing is added before.
  void belong_to(std::uint32_t uid) { uid_ = uid; }
  void reconfigure() { advice_.clear(); }

  /// The TOML that would allow the name that this server's cells were last refused; empty: none.
  using RefusedName = std::function<std::string(std::uint32_t server)>;
  void ask_for_names(RefusedName refused_name) { refused_name_ = std::move(refused_name); }

  /// Whether the cell that answers was refused something of the network during the call.
  using RefusedMeanwhile = std::function<bool()>;

  /// For the answer to a tool call: what is put into it. Of results those with isError, and short
  /// ones in whose text the network failed, where the cell was refused something meanwhile: some
  /// servers report failures so.
  std::optional<Replacement> addition(std::uint32_t server, std::string_view line,
                                      const Message& message, const RefusedMeanwhile& refused = {});

 private:
  const std::vector<PathAdvice>& advice_of(std::uint32_t server);
  std::string network_advice(std::uint32_t server, std::string_view report) const;

  const Config& config_;
  std::optional<std::uint32_t> uid_;
  RefusedName refused_name_;
  std::map<std::uint32_t, std::vector<PathAdvice>> advice_;
};

}  // namespace cellblock::gateway
