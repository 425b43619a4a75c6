#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/approvals/approvals.h"
#include "policy/encoding/sha256.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/pins/definition.h"
#include "policy/rates/call_deadline.h"
#include "policy/rates/call_slots.h"
#include "supervisor/os/clock.h"

/// The calls in flight in one direction: the ids on both sides, their progress, and what each
/// answer needs. Once for host to server, once for server to host.
namespace cellblock::gateway {

/// cellblock's ids in place of its peers': integers that a peer cannot guess, so that it cannot
/// answer a call that is not its own.
class UpstreamIds {
 public:
  /// Fills the whole span with random bytes; must not fail.
  using Fill = std::function<void(std::span<std::byte>)>;

  explicit UpstreamIds(Fill fill) : fill_(std::move(fill)) {}

  /// In [1, 2^53): every JSON parser carries such an integer exactly.
  std::uint64_t next();

 private:
  std::uint64_t draw();

  Fill fill_;
  std::array<std::uint64_t, 64> pool_{};
  std::size_t left_ = 0;
};

/// The id in raw JSON, or 0 if it cannot be one of ours.
std::uint64_t parse_upstream_id(std::string_view raw);

/// Limits the progress messages of one call: progress must rise, and the host gets no more than a
/// person can read. The last one that came too soon is kept, so that the host learns how far the
/// call is.
class ProgressLimiter {
 public:
  static constexpr unsigned most = 100;  ///< in each interval
  static constexpr std::chrono::seconds interval{1};
  static constexpr std::size_t longest_kept = 64U << 10;  ///< what is longer is not kept

  enum class Verdict : std::uint8_t { pass, keep, falls };

  /// `progress`: raw JSON of a number; empty, or none: it falls.
  Verdict judge(std::string_view progress, Time now);

  /// The last one that was to be kept, as it goes to the host.
  void keep(std::string text) { kept_ = std::move(text); }
  std::size_t kept_bytes() const { return kept_ ? kept_->size() : 0; }
  std::optional<std::string> take_kept() { return std::exchange(kept_, std::nullopt); }

 private:
  std::optional<double> last_;
  std::optional<Time> since_;
  unsigned passed_ = 0;
  std::optional<std::string> kept_;
};

/// What the answer to a call needs done to it.
enum class CallKind : std::uint8_t {
  other,
  initialize,  ///< may not be cancelled
  tools_list,  ///< the answer is narrowed; like those of the next three, it is cleaned
  resources_list,
  templates_list,
  prompts_list,
  discover,     ///< the answer is cleaned, as that of initialize is
  tool_call,    ///< a failure comes as a result that the model sees
  listen,       ///< subscriptions/listen: its id also names the stream's notifications
  task_result,  ///< tasks/result: its task has ended when it is answered
  task_state,   ///< what else is about one task: of a finished one the answer may hold the result
  resource_read,
  prompt_get,
};

CallKind kind_of(std::string_view method);

/// The one way to tell a host that its request failed: of a tool's call as a result, which the
/// model sees. Without its newline; `id` is raw JSON.
std::string failed_reply(std::string_view id, CallKind kind, Era era, const Failure& failure);

/// Has its lines in the audit log, and is not made without: what a person or a model gets by it, or
/// makes of it.
bool is_recorded(CallKind kind);

/// What a waiting call was admitted by. After the wait, what has changed since is checked again.
struct JudgedCall {
  std::string line;  ///< the host's
  Message message;
  std::optional<Rule> asks;          ///< the rule that asked about it, as it was then
  std::uint64_t redaction = 0;       ///< Redactions::revision() of what looked through it
  std::optional<Digest> definition;  ///< of the named tool, when the approval was asked for
};

/// A call that may not be sent yet, and what its record will say.
struct UnsentCall {
  std::string text;  ///< as the server will get it, with its newline
  std::string rule;
  Sha256 arguments{};
  std::string argument_text;         ///< that may stand in its record; empty: none may
  std::size_t bytes = 0;             ///< of the caller's line
  std::optional<JudgedCall> judged;  ///< only for a call that waits for a place or an approval
  std::uint32_t told_waiting = 0;    ///< how often the caller has been told that it waits
  Time tell_waiting_at{};            ///< when it is told again
};

struct Call {
  std::uint64_t own_id = 0;
  std::uint64_t question = 0;  ///< about it, to the host; of a question: the call that it is about
  std::string caller_id;       ///< the caller's id, raw JSON
  std::string progress_token;  ///< the caller's, raw JSON; empty if it wants no progress
  std::string traceparent;     ///< of the caller's span; empty: it names none
  std::string tool;
  std::string named;      ///< what else is called and recorded: a resource's URI, a prompt
  std::string task_tool;  ///< of a question about a task: whose call made it; empty: not known
  CallKind kind = CallKind::other;
  Era era = Era::legacy;
  Time began;
  bool has_cursor = false;          ///< it asks for a later page of a list
  std::uint8_t wanted_changes = 0;  ///< of a stream: bit i for mcp::list_changes[i]
  std::uint8_t agreed_changes = 0;  ///< of these, what the server has acknowledged
  bool wants_more = false;          ///< of a stream: to hear of anything beside lists
  /// A call of the server: false if the host's program answers it by itself, so that nothing is
  /// lost if it is not answered.
  bool is_for_somebody = true;
  bool is_sent = true;   ///< else it waits for its record, and the callee knows nothing of it
  ProgressLimiter pace;  ///< of what the callee says about it
  CallDeadline deadline;
  Approval approval;                   ///< that it waits for; withdrawn with the call
  CallSlot place;                      ///< among those in flight; given back with the call
  std::unique_ptr<UnsentCall> unsent;  ///< while it waits for either: not recorded, and not sent
};

class CallTable {
 public:
  enum class Refusal : std::uint8_t { duplicate, too_many };

  explicit CallTable(std::size_t most) : most_(most) {}

  std::optional<Refusal> refusal_for(std::string_view caller_id) const;
  /// Only when refusal_for() had nothing against it.
  void open(Call call);

  /// The call with our id, in raw JSON. Valid until the next change. Our progress tokens are the
  /// same numbers, so this also finds a call by its token.
  const Call* find(std::string_view own_id) const;
  Call* find(std::string_view own_id);
  Call* find(std::uint64_t own_id);
  const Call* find_by_caller_id(std::string_view caller_id) const;

  std::optional<Call> close(std::string_view own_id);
  /// Closes it and remembers that its answer may still come.
  std::optional<Call> cancel(std::string_view caller_id);
  bool was_cancelled(std::string_view own_id) const;

  std::vector<Call> take_all();
  /// Callers must not change the ids.
  std::span<Call> all() { return calls_; }
  std::span<const Call> all() const { return calls_; }
  std::vector<std::uint64_t> ids() const;  ///< own
  std::size_t size() const { return calls_.size(); }
  std::size_t awaited() const;        ///< all but streams
  std::size_t kept_progress() const;  ///< bytes, of all calls

 private:
  /// What a call is looked for by: apart from the calls, which are large.
  struct Key {
    std::uint64_t own_id = 0;
    std::size_t caller_hash = 0;
  };

  const Call* find_by_id(std::uint64_t own_id) const;
  std::optional<Call> remove(const Call* call);

  // A scan over a few dozen neighbours is quicker than any tree or hash, and most_ bounds it.
  std::vector<Call> calls_;
  std::vector<Key> keys_;  // of the calls, in their order
  std::size_t most_;

  // A bounded memory is enough: what falls out of it is dropped all the same, only counted as
  // foreign instead of late.
  std::array<std::uint64_t, 64> cancelled_{};
  std::size_t next_cancelled_ = 0;
};

}  // namespace cellblock::gateway
