#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

/// What the cells of one server were refused: counted by what it was, and the last ones with their
/// times. Bounded in every direction, since the server chooses what it tries. Pure.
namespace cellblock::gateway {

/// Why a denial has no line that would allow it.
enum class NoRemedy : std::uint8_t {
  none_known,
  harmless,  ///< the caller goes on without it
  allowed,   ///< by the configuration: it failed outside the cell
};

struct Denied {
  std::uint64_t cell = 0;
  std::int64_t at_ms = 0;  ///< Unix time
  std::string what;        ///< "mount", "connect api.example.org:443"
  std::string reason;
  std::string allow;                          ///< the TOML that would allow it; empty: nothing does
  NoRemedy no_remedy = NoRemedy::none_known;  ///< of an empty `allow`
  std::uint64_t count = 1;
};

class DeniedLog {
 public:
  static constexpr std::size_t max_kinds = 64;  ///< the rest is counted as one
  static constexpr std::size_t max_recent = 200;
  static constexpr std::size_t max_text = 512;

  struct Kind {
    std::string what;
    std::string reason;
    std::string allow;
    std::uint64_t count = 0;
  };

  /// Alike denials of one cell in a row become one. Those of Unix sockets are one for each cell,
  /// and interrupt no row.
  void add(Denied denied);

  /// The most frequent `count` kinds.
  std::vector<Kind> most(std::size_t count) const;
  /// The newest `count`, oldest first.
  std::vector<const Denied*> last(std::size_t count) const;
  std::uint64_t total() const { return total_; }

  /// What this cell was refused most often on its way to the network, of what it was refused again
  /// since then (Unix time); null: nothing.
  const Denied* refused_network(std::uint64_t cell, std::int64_t since_ms) const;

  /// The newest name that a cell was refused and that a rule would allow; null: there is none.
  const Denied* refused_name() const;

 private:
  void add_recent(Denied denied);

  std::map<std::string, Kind> kinds_;  ///< by `what`
  std::deque<Denied> recent_;
  std::uint64_t total_ = 0;
};

}  // namespace cellblock::gateway
