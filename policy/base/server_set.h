#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// How servers are named between processes and in logs: by index in a set of them, by name in a
/// tag.
namespace cellblock {

/// How many servers a configuration may declare.
inline constexpr std::size_t max_servers = 256;

/// Servers by their index in the configuration. Of a fixed size and without pointers, since it
/// crosses between processes (supervisor/ipc/wire.h).
class ServerSet {
 public:
  /// `index` below max_servers.
  void add(std::size_t index) { words_[index / bits] |= std::uint64_t{1} << (index % bits); }
  void add(const ServerSet& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }

  /// False beyond max_servers.
  bool contains(std::size_t index) const {
    return index < max_servers && (words_[index / bits] >> (index % bits) & 1U) != 0;
  }
  bool contains(const ServerSet& others) const {
    ServerSet both = *this;
    both.add(others);
    return both == *this;
  }
  bool operator==(const ServerSet&) const = default;

 private:
  static constexpr std::size_t bits = 64;
  std::array<std::uint64_t, max_servers / bits> words_{};
};

/// How lines of a log that are about one server begin: "[MCP:stdio:git]".
inline std::string server_tag(std::string_view server) {
  return "[MCP:stdio:" + std::string(server) + "]";
}

}  // namespace cellblock
