#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/os/sys.h"

/// Decides which connections the next closing child takes, and which wait while children do not
/// end. Pure: holds descriptors, and makes no system call on them. See docs/decisions/0047.
namespace cellblock::daemon {

/// The owner of a connection that is to be closed.
struct ConnectionOwner {
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  enum class Kind : std::uint8_t {
    user,      ///< named by an allow list: counted alone
    stranger,  ///< nobody whom we serve: counted together, since one who has subordinate ids can
               ///< come as 65,536 of them
  };
  std::uint32_t uid = unknown;
  Kind kind = Kind::stranger;
};

class CloseQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t batch = 16;         ///< connections of a child
  static constexpr std::size_t most_of_one = 2;    ///< children of one owner
  static constexpr std::size_t most_at_once = 8;   ///< children that are not stuck
  static constexpr std::size_t most_stuck = 256;   ///< children; with more, every connection waits
  static constexpr std::size_t most_waiting = 64;  ///< connections of an owner whose children end
  static constexpr std::size_t most_parked = 512;  ///< connections of all other owners together
  static constexpr std::chrono::milliseconds stuck_after{500};
  static constexpr std::chrono::milliseconds stuck_again_after{50};  ///< for a distrusted owner
  /// How long an owner is distrusted after one of its children was stuck.
  static constexpr std::chrono::minutes distrust{1};

  struct Batch {
    ConnectionOwner owner;
    std::vector<Fd> connections;
  };

  void add(const ConnectionOwner& owner, Fd connection);

  /// The next child's batch; nullopt: none is due. `whole_only`: only full batches, so that more
  /// connections can join the others.
  enum class Size : std::uint8_t { any, whole_only };
  std::optional<Batch> next(Size size);
  /// Returns a batch for which no child could be made.
  void put_back(Batch unstarted);
  void started(pid_t child, const ConnectionOwner& owner, Time now);
  void ended(pid_t child, Time now);

  /// Lets time pass. Returns the owners who newly have a stuck child: each once per episode.
  std::vector<ConnectionOwner> look(Time now);

  /// Whether no connection should be accepted until some of the queue is done.
  bool must_hold() const;
  /// Whether this user has as many stuck children as allowed: the user is not served meanwhile.
  bool is_stuck(std::uint32_t user) const;
  std::size_t stuck() const;
  bool has_waiting() const;
  bool has_children() const { return !children_.empty(); }
  std::vector<pid_t> children() const;
  /// Takes all waiting connections, for the last child.
  std::vector<Fd> take_all();

 private:
  struct Waiting {
    std::uint32_t uid = ConnectionOwner::unknown;
    Fd connection;
  };
  struct Account {
    std::vector<Waiting> waiting;
    std::size_t children = 0;
    std::size_t stuck = 0;
    Time distrusted_until{};
    bool is_distrusted = false;
  };
  struct Child {
    std::uint64_t account = 0;
    ConnectionOwner owner;
    Time since{};
    bool is_stuck = false;
  };
  using Accounts = std::map<std::uint64_t, Account>;

  Accounts::iterator next_account(Size size);
  Accounts::iterator fullest_parked();
  bool may_overflow();
  Batch take(Accounts::iterator account, std::size_t most);
  std::size_t parked() const;

  Accounts accounts_;  ///< owners with a waiting connection, a child, or distrust
  std::map<pid_t, Child> children_;
  std::uint64_t last_ = 0;  ///< the account whose turn was last
};

}  // namespace cellblock::daemon
