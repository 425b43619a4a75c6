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

/// Which connections the next closing child takes, and who waits when children do not end. Pure:
/// it holds descriptors, and makes no call on them. See docs/decisions/0047.
namespace cellblock::daemon {

/// Whose connection it is that is to be closed.
struct ConnectionOwner {
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  enum class Kind : std::uint8_t {
    user,      ///< whom an allow list names: counted alone
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
  static constexpr std::size_t most_stuck = 256;   ///< children; then everybody waits
  static constexpr std::size_t most_waiting = 64;  ///< of an owner whose children end
  static constexpr std::size_t most_parked = 512;  ///< of those whose children do not, together
  static constexpr std::chrono::milliseconds stuck_after{500};
  static constexpr std::chrono::milliseconds stuck_again_after{50};  ///< of one who is distrusted
  /// How long an owner is not waited for once a child of his was stuck.
  static constexpr std::chrono::minutes distrust{1};

  struct Batch {
    ConnectionOwner owner;
    std::vector<Fd> connections;
  };

  void add(const ConnectionOwner& owner, Fd connection);

  /// What a child is to take now; none: there is nothing, or not yet. `whole_only`: no batch that
  /// is not full, so that others can join it.
  enum class Size : std::uint8_t { any, whole_only };
  std::optional<Batch> next(Size size);
  /// No child could be made for it.
  void put_back(Batch unstarted);
  void started(pid_t child, const ConnectionOwner& owner, Time now);
  void ended(pid_t child, Time now);

  /// Time passes. Owners of whom a child is stuck, to be told: each once, until it is over.
  std::vector<ConnectionOwner> look(Time now);

  /// Nobody is to be accepted until some of this is done.
  bool must_hold() const;
  /// As many of this user's children are stuck as may be: he is not served meanwhile.
  bool is_stuck(std::uint32_t user) const;
  std::size_t stuck() const;
  bool has_waiting() const;
  bool has_children() const { return !children_.empty(); }
  std::vector<pid_t> children() const;
  /// All that waits, for the last child.
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

  Accounts accounts_;  ///< those with something waiting, a child, or distrust
  std::map<pid_t, Child> children_;
  std::uint64_t last_ = 0;  ///< the account that had its turn
};

}  // namespace cellblock::daemon
