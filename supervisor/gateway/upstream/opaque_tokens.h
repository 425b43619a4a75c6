#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/os/clock.h"

/// Cursors, request states and task ids of a server: its host gets them sealed, and only what was
/// sealed for this host, server and cell goes back. `null`, which says that there is none, passes.
namespace cellblock::gateway {

/// Sealed values that a host holds and is expected to send back: the state of a question that is
/// not answered yet, the next page of a list.
class OutstandingTokens {
 public:
  static constexpr std::size_t most = 64;  ///< the oldest falls out

  void add(std::string_view sealed, Time until);
  void came_back(std::string_view sealed);
  bool any(Time now) const;

 private:
  struct Value {
    std::size_t hash = 0;  ///< it may be long, and two that are taken for one do no harm
    Time until;
  };
  std::deque<Value> values_;
};

/// The names that a host knows a server's tasks by: it compares the ids that it is told, so a task
/// keeps its sealed one. The server chooses how many tasks there are and how long their ids; the
/// oldest fall out.
class TaskIds {
 public:
  static constexpr std::size_t most = 1'024;
  static constexpr std::size_t longest_id = 1U << 10;   ///< bytes of the server's raw JSON
  static constexpr std::size_t max_bytes = 512U << 10;  ///< of ids and names together

  TaskIds() = default;
  TaskIds(TaskIds&&) = default;
  TaskIds& operator=(TaskIds&&) = delete;

  /// Null: none, or no longer. Valid until the next one is added.
  const std::string* find(std::string_view raw, Time now) const;
  /// Whether it has, or had lately, a name.
  bool knows(std::string_view raw) const { return by_id_.contains(raw); }
  void add(std::string_view raw, std::string name, Time expires);

  std::size_t bytes() const { return bytes_; }

 private:
  struct Task {
    std::string raw;
    std::string name;
    Time expires;
    std::size_t bytes() const { return raw.size() + name.size(); }
  };
  using Tasks = std::list<Task>;  ///< nodes stay where they are: by_id_ looks into them

  void remove(Tasks::iterator task);
  void make_room();

  Tasks tasks_;  ///< the oldest first
  std::unordered_map<std::string_view, Tasks::iterator> by_id_;
  std::size_t bytes_ = 0;
};

/// Maps a task to the tool whose call made it, from the answers to such calls. A server chooses the
/// ids: a task that two tools claim has no known owner. Kept apart from the names of tasks, which
/// may arrive without a call: here the host must ask for each one. The oldest entries are dropped.
class TaskOwners {
 public:
  static constexpr std::size_t most = 1'024;
  static constexpr std::size_t max_bytes = 512U << 10;  ///< of ids and tools together

  TaskOwners() = default;
  TaskOwners(TaskOwners&&) = default;
  TaskOwners& operator=(TaskOwners&&) = delete;

  /// A call of that tool was answered with a task, an id in the server's raw JSON.
  void claim(std::string_view raw, std::string_view tool);
  /// The tool whose calls made these tasks; empty: not known, or several tools.
  std::string_view tool_of(std::span<const std::string_view> raw) const;

  std::size_t bytes() const { return bytes_; }

 private:
  struct Claim {
    std::string raw;
    std::string tool;  ///< empty: of several
    std::size_t bytes() const { return raw.size() + tool.size(); }
  };
  using Claims = std::list<Claim>;  ///< nodes stay where they are: by_id_ looks into them

  void remove_oldest();

  Claims claims_;  ///< the oldest first
  std::unordered_map<std::string_view, Claims::iterator> by_id_;
  std::size_t bytes_ = 0;
};

class OpaqueTokens {
 public:
  static constexpr std::chrono::hours cursor_life{1};
  static constexpr std::chrono::seconds state_life{600};
  /// So long the next page of a list is expected to be asked for.
  static constexpr std::chrono::seconds page_patience{5};
  static constexpr std::chrono::hours task_life{24};

  /// The purpose in `whose` does not matter.
  OpaqueTokens(Sealer& sealer, SealBinding whose) : sealer_(sealer), whose_(whose) {}

  /// From the host: puts the server's own values back. False: one of them is not ours, or too old,
  /// and the message must not go on.
  bool give_back(std::string_view line, const Message& message, Time now,
                 std::vector<Replacement>& edits);
  /// Whether the host holds the state of a question that its user has still to answer: it means
  /// nothing to another cell.
  bool is_question_open(Time now) const { return questions_.any(now); }
  /// Whether it has been given a part of a list just now, and not asked for the next one.
  bool is_list_open(Time now) const { return lists_.any(now); }

  /// From the server: seals its values. False: one could not be sealed, or a task's is over its
  /// bound, and the message must not go on.
  bool hand_out(std::string_view line, const Message& message, Time now,
                std::vector<Replacement>& edits);

  /// As hand_out(), for one id.
  bool hand_out_task(std::string_view line, Span where, Time now, std::vector<Replacement>& edits);
  /// As hand_out(), for the result of a list or an introduction: raw JSON of an object.
  bool hand_out_cleaned(std::string& result, Time now);

  /// A call of that tool was answered with this message, which has been handed out. Only the task
  /// that the answer itself is counts, not what it lists or is related to.
  void made_tasks(std::string_view line, const Message& message, std::string_view tool);
  /// The tool whose call made the task that a server's message is about; empty: not known, or
  /// several.
  std::string_view tool_behind(std::string_view line, const Message& message) const;
  /// As above, for a host's message in which `edits` have put the server's own values back.
  std::string_view tool_behind(const Message& message, const std::vector<Replacement>& edits) const;

  /// Whether the host has been told of the task with this id, in the server's raw JSON.
  bool knows_task(std::string_view raw) const { return tasks_.knows(raw); }

 private:
  SealBinding binding(SealPurpose purpose) const;
  bool open(SealPurpose purpose, std::string_view line, Span where, Time now,
            std::vector<Replacement>& edits) const;
  bool seal(SealPurpose purpose, std::string_view line, Span where, Time expires,
            std::vector<Replacement>& edits);

  Sealer& sealer_;
  SealBinding whose_;
  TaskIds tasks_;
  TaskOwners claims_;
  OutstandingTokens questions_;
  OutstandingTokens lists_;
};

}  // namespace cellblock::gateway
