#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/redaction/redactor.h"

namespace cellblock::gateway {

/// What is looked for in the messages of one user's servers, made when a server is first spoken to,
/// and what was found so far.
class Redactions {
 public:
  /// Which outlives it.
  explicit Redactions(const Config& config) : config_(config) {}

  /// The configuration has changed: made anew is what is made from other words. What was found is
  /// still what was found.
  void reconfigure();
  /// Changes when the rules change: a text that was checked before may not pass now.
  std::uint64_t revision(std::uint32_t server) { return entry(server).revision; }

  /// An error: nothing of this server may pass, since it cannot be looked at.
  const Result<Redactor>& of(std::uint32_t server) { return entry(server).redactor; }
  void add(std::uint32_t server, Direction direction, const FoundCounts& found);
  /// Null: nothing yet.
  const FoundCounts* found(std::uint32_t server, Direction direction) const;

  /// Redacts a line of the server's stderr, or another text of the server that is no message.
  std::string clean(std::uint32_t server, std::string_view text);
  /// Redacts JSON of the server that is no message. nullopt: it must not pass.
  std::optional<std::string> clean_json(std::uint32_t server, std::string_view json);
  /// False: nothing is looked for in what the server says.
  bool watches_host(std::uint32_t server);

 private:
  struct Source {
    RedactionRules rules;
    SecretMarks marks;
    std::vector<std::string> secrets;  ///< their names
    bool operator==(const Source&) const = default;
  };
  struct Entry {
    Source source;
    Result<Redactor> redactor;
    std::uint64_t revision = 0;
    FoundCounts to_server;
    FoundCounts to_host;
  };
  Source source_of(std::uint32_t server) const;
  Result<Redactor> made_from(const Source& source);
  Entry& entry(std::uint32_t server);

  const Config& config_;
  Redactor::Scanners scanners_;
  std::map<std::uint32_t, Entry> entries_;
};

/// Looks at every message between one host and one server.
class RedactionGate {
 public:
  /// What it is given outlives it.
  RedactionGate(Redactions& redactions, std::uint32_t server_index, const Server& server)
      : redactions_(redactions), server_index_(server_index), server_(server) {}

  /// Adds to `edits`, which are what is done to the line so far: ids and values that are replaced
  /// anyway, texts that were written anew. With an error, the message does not pass.
  std::expected<void, Failure> pass(Direction direction, std::string_view line,
                                    const Message& message, std::vector<Replacement>& edits);

  /// Redacts a text of the server that is shown to a user.
  std::string clean(std::string_view text) { return redactions_.clean(server_index_, text); }

  /// Redactions::revision().
  std::uint64_t revision() { return redactions_.revision(server_index_); }

  /// What was found since it was last asked.
  FoundCounts take_found() { return std::exchange(found_, {}); }

 private:
  Failure failure(Direction direction, std::string_view what) const;
  bool may_be_called(Direction direction, std::string_view method, const Redactor& redactor);
  bool note(Direction direction, const Redaction& made);

  Redactions& redactions_;
  const std::uint32_t server_index_;
  const Server& server_;
  FoundCounts found_;
};

}  // namespace cellblock::gateway
