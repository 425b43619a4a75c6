#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/os/clock.h"

/// Values that a host carries for us or for a server, and must give back as they are: AES-256-GCM
/// with a key that this process alone has, for as long as it lives.
namespace cellblock::gateway {

enum class SealPurpose : std::uint8_t {
  request_state,  ///< a modern server's own, wrapped
  parked_call,    ///< a legacy server's question during a modern host's call
  cursor,         ///< of a list
  task,           ///< a task's id
};

/// The recipient and origin of a value: all of it must be the same when the value comes back.
struct SealBinding {
  SealPurpose purpose{};
  std::uint32_t server = 0;   ///< index
  std::uint64_t session = 0;  ///< of the host
  std::uint64_t cell = 0;     ///< the generation: a new cell knows nothing of the old one's values
};

class Sealer {
 public:
  /// Fills the whole span with random bytes; must not fail.
  using Fill = std::function<void(std::span<std::byte>)>;
  explicit Sealer(Fill fill);
  ~Sealer();
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;

  static constexpr std::size_t max_payload = 64U << 10;

  /// base64url text without padding; nullopt if the payload is over its bound, or if it could not
  /// be encrypted: then it must not be handed out at all.
  std::optional<std::string> seal(const SealBinding& binding, Time expires,
                                  std::string_view payload);

  /// nullopt: not ours, changed, for another recipient or purpose, or expired. The caller does not
  /// learn which.
  std::optional<std::string> open(const SealBinding& binding, std::string_view text,
                                  Time now) const;

 private:
  Fill fill_;
  std::array<std::byte, 32> key_{};
};

}  // namespace cellblock::gateway
