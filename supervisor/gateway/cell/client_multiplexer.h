#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/cell/cell_user.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/os/clock.h"

/// Multiplexes the sessions of one user that share a cell (`cells = "per-user"`). The server sees
/// one client without capabilities. What concerns all sessions is sent once. What the server sends
/// goes to the session it belongs to, or to none. Pure.
namespace cellblock::gateway {

/// Requests that several sessions make and that a cell is sent once: which session waits for which
/// answer. Pure; bounded by the calls that its users may have in flight.
class RequestCoalescer {
 public:
  struct Waiting {
    std::uint64_t member = 0;
    std::string own_id;  ///< its id of ours, raw JSON
  };
  /// `waiting` begins with whose request it is that the cell heard, unless that one has left.
  struct Done {
    std::string what;
    std::vector<Waiting> waiting;
  };

  bool is_asked(std::string_view what) const;
  /// The request goes to the cell; its answer has this id.
  void ask(std::string_view what, Waiting first);
  /// is_asked() holds.
  void wait(std::string_view what, Waiting another);
  /// Whether the answer with this id is awaited here.
  bool has(std::string_view own_id) const;
  std::optional<Done> take(std::string_view own_id);
  /// The answer does not hold for sessions that ask later.
  void close(std::string_view what);
  void leave(std::uint64_t member);
  std::vector<Done> take_all();

 private:
  struct Entry {
    std::string own_id;
    bool is_open = true;  ///< others may wait for it too
    Done done;
  };
  const Entry* open_one(std::string_view what) const;

  std::vector<Entry> entries_;
};

/// Which sessions have subscribed to which resource. The server is asked once for each URI. Pure.
class Subscriptions {
 public:
  using Session = std::uint64_t;
  static constexpr std::size_t most = 4'096;       ///< pairs of session and URI
  static constexpr std::size_t most_of_one = 512;  ///< session, so that it leaves room for others
  static constexpr std::size_t longest_uri = 4'096;

  enum class Added : std::uint8_t {
    first,    ///< the server is to be asked
    another,  ///< it has been asked
    refused,  ///< too many, or too long
  };
  Added add(Session session, std::string_view uri);

  enum class Removed : std::uint8_t {
    last,  ///< the server is to be told
    some,  ///< other sessions still want it, or none did
  };
  Removed remove(Session session, std::string_view uri);
  /// The session has left. Returns the URIs that no session wants any more.
  std::vector<std::string> forget(Session session);

  /// The sessions that are told that `uri` was updated; it may be a part of a resource they
  /// subscribed to.
  std::vector<Session> wanting(std::string_view uri) const;

 private:
  struct Entry {
    Session session = 0;
    std::string uri;
    bool operator==(const Entry&) const = default;
  };
  bool is_wanted(std::string_view uri) const;

  std::vector<Entry> entries_;
};

class ClientMultiplexerEffects {
 public:
  virtual void to_cell(Slices message) = 0;
  /// Whether a request of so many bytes may wait for the server besides what waits already.
  virtual bool has_room(std::size_t bytes) const = 0;
  virtual void record(const AuditNote& note) = 0;
  /// A log message of no session: it goes to the log of the server's stderr.
  virtual void keep_log(std::string_view text) = 0;
  /// tell() is to be called, and what was said is to be written, when this turn is over.
  virtual void settle_soon() = 0;

 protected:
  ~ClientMultiplexerEffects() = default;
};

class ClientMultiplexer {
 public:
  ClientMultiplexer(MessageScanner& scanner, ClientMultiplexerEffects& effects)
      : scanner_(scanner), effects_(effects) {}

  void join(CellUser& user) { members_.push_back({&user, ++last_member_, false}); }
  /// Ends what it alone wanted. Its calls are its own to cancel, before.
  void leave(CellUser& user);

  /// The first to say anything decides it; the others use a bridge.
  Era agree_on(Era wanted);
  /// The server refused `initialize`, or its answer is not known: no further session may join.
  bool is_spent() const { return is_spent_; }

  /// A line that an upstream has let pass.
  void from_user(CellUser& user, Slices message);
  void from_cell(std::string_view line, const Message& message, Time now);
  /// Hands out what is answered here.
  void tell(Time now);

  /// The answer with this id is lost: whose calls wait for it besides the one that owns the id.
  std::vector<std::string> lost(std::string_view own_id);
  /// All calls in flight fail.
  void lose_all();

  /// Answers to calls that no session here made, or whose session has left.
  std::uint64_t foreign_answers() const { return foreign_answers_; }

 private:
  struct Member {
    CellUser* user = nullptr;
    std::uint64_t number = 0;
    bool has_spoken = false;
  };
  struct Answer {
    std::uint64_t member = 0;
    std::string text;
  };

  std::uint64_t number_of(const CellUser& user) const;
  CellUser* member(std::uint64_t number) const;
  CellUser* owner_of(std::string_view own_id) const;

  void request(std::uint64_t who, std::string_view line, const Message& message);
  void refuse_for_room(std::uint64_t who, std::string_view id);
  void notification(std::string_view line, const Message& message);
  void note_spoken(std::uint64_t who);
  void initialize(std::uint64_t who, std::string_view line, const Message& message);
  void subscribe(std::uint64_t who, std::string_view line, const Message& message);
  void unsubscribe(std::uint64_t who, std::string_view line, const Message& message);
  void set_level(std::uint64_t who, std::string_view line, const Message& message);
  void pass(std::string_view line, std::vector<Replacement> edits = {});
  void answer(std::uint64_t who, std::string text);

  void answered(std::string_view line, const Message& message, Time now);
  void settle_joint(const RequestCoalescer::Done& done, std::string_view line,
                    const Message& message);
  void forget_lost(const RequestCoalescer::Done& done);
  void refuse_request(std::string_view line, const Message& message);
  void notified(std::string_view line, const Message& message, Time now);
  std::vector<std::uint64_t> audience(std::string_view line, const Message& message) const;
  void say(std::string_view text);

  MessageScanner& scanner_;
  ClientMultiplexerEffects& effects_;
  std::vector<Member> members_;
  std::uint64_t last_member_ = 0;
  std::deque<Answer> answers_;

  std::optional<Era> era_;
  RequestCoalescer joint_;
  std::optional<std::string> welcome_;  ///< the result of `initialize`
  bool is_initialized_ = false;
  bool is_spent_ = false;
  Subscriptions subscriptions_;
  std::uint64_t foreign_answers_ = 0;
  std::uint64_t unsubscribed_ = 0;            ///< requests of our own
  std::map<std::uint64_t, unsigned> levels_;  ///< by member
  std::optional<unsigned> level_;             ///< what the server was told
};

}  // namespace cellblock::gateway
