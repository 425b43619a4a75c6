#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/learn/learned_paths.h"

/// What `cellblock learn` saw a server being refused, and what would have allowed it.
namespace cellblock::cli {

/// The ports of the loopback that a line of output says could not be connected to:
/// "connect EACCES 127.0.0.1:5432", "dial tcp [::1]:6379: connect: connection refused". At most
/// four, each once; none of a line that tells of no such failure. In a cell the loopback is the
/// cell's own, so the writer of the line may mean the host's. Pure.
std::vector<std::uint16_t> said_loopback_ports(std::string_view line);

/// What would have allowed one refused operation, taken apart from the daemon's sentence about it.
struct Remedy {
  enum class Kind : std::uint8_t {
    none,
    egress,
    system_call,
    unadvised,  ///< a system call that would be allowed by what is never proposed: ptrace
    other,
  };

  Kind kind = Kind::none;
  std::string target;   ///< egress: "api.example.org:443"
  std::string call;     ///< system_call: "mount"
  std::string base;     ///< of a profile that is to be made; or
  std::string profile;  ///< the declared one that is to be changed
  bool adds_call = false;
  bool takes_back = false;  ///< out of that profile's `refuse`
  bool write_exec = false;
  bool network = false;
};

/// `what` and `allow` as `cellblock/logs` tells them of a refused operation. Words that are none of
/// ours make it `other`. Pure.
Remedy read_remedy(const std::string& what, const std::string& allow);

/// One kind of operation that the kernel or the egress helper refused.
struct RefusedOperation {
  std::string what;  ///< "mount", "connect api.example.org:443"
  std::uint64_t count = 0;
  Remedy remedy;
  std::string allow;  ///< the daemon's own words about what would allow it
};

/// A port of the loopback to which a connection failed, and how often.
struct MissedPort {
  std::uint16_t port = 0;
  std::uint64_t count = 0;
};

/// The writer of a line. A session often repeats what its server said.
enum class Speaker : std::uint8_t { server, session };

/// What came to light about a server while it was watched. It chooses what it says and tries, so
/// each list is bounded, and what does not fit is counted. Pure.
class Observed {
 public:
  static constexpr std::size_t most_paths = 1024;
  static constexpr std::size_t most_operations = 256;
  static constexpr std::size_t most_ports = 32;

  void said(Speaker speaker, std::string_view line);
  void refused(const std::string& what, const std::string& allow, std::uint64_t count);

  /// That many lines were lost.
  void lost(std::uint64_t lines) { left_out_ += lines; }

  std::vector<MissedPath> paths() const;
  std::vector<MissedPort> loopback_ports() const;
  std::vector<RefusedOperation> operations() const;
  std::uint64_t left_out() const { return left_out_; }

 private:
  using Counts = std::array<std::uint64_t, 2>;  ///< by Speaker

  template <class Key>
  void count(std::map<Key, Counts>& seen, std::size_t most, const Key& key, Speaker speaker);

  std::map<std::pair<std::string, PathWish>, Counts> paths_;
  std::map<std::uint16_t, Counts> loopback_ports_;
  std::map<std::string, RefusedOperation> operations_;  ///< by `what`
  std::uint64_t left_out_ = 0;
};

}  // namespace cellblock::cli
