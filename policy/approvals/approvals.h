#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/access_rule.h"
#include "policy/rates/token_bucket.h"

/// Calls that wait for an approval. An approval is for one call exactly as it will be sent: it
/// belongs to that call, is used once, and ends with the call's session, cell or time. Pure: events
/// and times in.
namespace cellblock::approval_question {

// The question to the user: how a gateway asks it through an `elicitation/create` of its own, and
// how the host's library recognises it.

/// What `message` begins with. No server's question does: these begin with "[server NAME] ".
inline constexpr std::string_view beginning = "cellblock: may this call be made? ";

/// In `params._meta` of a question that begins so: `id` of the host's call, `server`, `method`,
/// `name`, `arguments` and `params`: JSON texts as the server will get them, and whole.
inline constexpr const char* meta_key = "cellblock/approval";

/// The member of the answer's `content` that must be true. Hosts that answer without asking a
/// person say "accept" with an empty `content`.
inline constexpr const char* answer_member = "allow";

}  // namespace cellblock::approval_question

namespace cellblock {

class Approvals;

/// What is asked about: all that an approval is bound to.
struct ApprovalRequest {
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::uint32_t server = 0;  ///< in the configuration
  std::int32_t pid = 0;      ///< of the host, for display
  std::string method;        ///< "tools/call"
  std::string name;          ///< of a tool or prompt, or a resource's URI
  std::string arguments;     ///< raw JSON, as the server will get them; empty: there are none
  std::string params;        ///< all that the server will get with the call, `arguments` as well
  std::string rule;          ///< the one that asks
  Approver approver = Approver::admin;
  std::chrono::milliseconds time{};  ///< until it is refused
};

enum class ApprovalState : std::uint8_t { waits, allowed, denied };

/// Waits for an approval. Outlives its approvals.
class ApprovalWaiter {
 public:
  /// One of its approvals was decided. Called from inside the decision: to be taken up later.
  virtual void approval_decided() = 0;

 protected:
  ~ApprovalWaiter() = default;
};

struct PendingApproval {
  std::uint64_t number = 0;  ///< of this user's, one more than the one before
  ApprovalRequest request;
  Instant asked{};
  Instant until{};
  std::uint32_t times = 1;  ///< that the same call was asked for while this one waits
  ApprovalState state = ApprovalState::waits;
  std::uint32_t by = 0;        ///< the uid that decided
  bool is_beforehand = false;  ///< it was allowed before it was asked for
};

/// An administrator's approval of the next call of one tool, prompt or resource, with any
/// arguments.
struct AllowedBeforehand {
  std::uint32_t server = 0;
  std::string method;
  std::string name;
  std::uint32_t by = 0;  ///< a uid, as the kernel says
  Instant until{};
};

/// One call's approval, given or pending; destroying it withdraws it. Default: no approval is
/// needed.
class Approval {
 public:
  Approval() = default;

  bool is_needed() const { return state_ != nullptr; }
  bool waits() const { return state_ && state_->entry->state == ApprovalState::waits; }
  bool is_denied() const { return state_ && state_->entry->state == ApprovalState::denied; }
  /// Only of one that is needed.
  const PendingApproval& entry() const { return *state_->entry; }

 private:
  friend class Approvals;
  struct State {
    Approvals& owner;
    ApprovalWaiter& waiter;
    std::list<PendingApproval>::iterator entry;
  };
  struct Withdraw {
    void operator()(State* state) const;
  };
  explicit Approval(State state) : state_(new State(state)) {}

  std::unique_ptr<State, Withdraw> state_;
};

/// Why no approval can be asked for.
struct ApprovalRefusal {
  enum class Why : std::uint8_t {
    waits_already,        ///< for the same call
    denied_before,        ///< a moment ago, the same call
    too_many_of_session,  ///< wait
    too_many,
    too_often,
    too_large,  ///< for a person to look at
  };
  Why why{};
  std::chrono::milliseconds retry_after{};  ///< 0: not for this
};

/// One sentence for a person and a model.
std::string text_of(const ApprovalRefusal& refusal);

class Approvals {
 public:
  static constexpr std::size_t max_of_session = 4;
  static constexpr std::size_t max_pending = 16;
  static constexpr std::size_t max_params = 64U << 10;  ///< bytes of one call's
  static constexpr std::size_t max_remembered = 16;     ///< denials
  static constexpr std::chrono::seconds denial_holds{60};
  static constexpr std::size_t max_beforehand = 16;
  static constexpr std::chrono::hours longest_beforehand{24};
  /// A person who is asked more often says yes to everything.
  static constexpr Rate pace{.count = 12, .period = std::chrono::minutes{1}, .burst = 6};

  /// Numbers continue from `last_number`.
  explicit Approvals(std::uint64_t last_number = 0) : last_number_(last_number) {}
  Approvals(const Approvals&) = delete;
  Approvals& operator=(const Approvals&) = delete;

  /// The uid of the calls' user, for id_of().
  void belong_to(std::uint32_t uid) { uid_ = uid; }
  /// The id that `cellblock approve` takes: "UID.NUMBER", or the number alone while the uid is not
  /// known.
  std::string id_of(const PendingApproval& entry) const;

  std::expected<Approval, ApprovalRefusal> ask(ApprovalRequest request, ApprovalWaiter& waiter,
                                               Instant now);

  enum class Word : std::uint8_t { allow, deny };
  /// Null: none of that number waits. Valid until the next change.
  const PendingApproval* decide(std::uint64_t number, Word word, std::uint32_t by, Instant now);

  /// Approves the next matching call, once, until the given time; not for rules that ask the user.
  /// False: there are too many such approvals.
  bool allow_next(AllowedBeforehand allowed, Instant now);
  /// What is called there has become another thing.
  void forget_beforehand(std::uint32_t server);

  /// In the order in which they were asked; also those that are decided and not taken up yet.
  const std::list<PendingApproval>& entries() const { return entries_; }

 private:
  friend class Approval;

  struct Denial {
    std::uint32_t server = 0;
    std::string method, name, arguments;
    Instant until{};
  };

  std::optional<ApprovalRefusal> refuse(const ApprovalRequest& request, Instant now);
  std::optional<AllowedBeforehand> take_beforehand(const ApprovalRequest& request, Instant now);
  void forget_denials(Instant now);
  void withdraw(const Approval::State& state);

  std::list<PendingApproval> entries_;
  std::list<Approval::State*> states_;        ///< of the entries, in their order
  std::deque<Denial> denials_;                ///< the oldest first
  std::deque<AllowedBeforehand> beforehand_;  ///< likewise
  TokenBucket bucket_{pace};
  std::uint64_t last_number_;
  std::optional<std::uint32_t> uid_;
};

}  // namespace cellblock
