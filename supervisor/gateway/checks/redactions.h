#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
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
  /// Another one when something else is looked for, or something else is done about it: what was
  /// looked through before may not pass now.
  std::uint64_t revision(std::uint32_t server) { return entry(server).revision; }

  /// An error: nothing of this server may pass, since it cannot be looked at.
  const Result<Redactor>& of(std::uint32_t server) { return entry(server).redactor; }
  void add(std::uint32_t server, Direction direction, const FoundCounts& found);
  /// Null: nothing yet.
  const FoundCounts* found(std::uint32_t server, Direction direction) const;

  /// Of a line that the server wrote on stderr, or of another text of it that is no message.
  std::string clean(std::uint32_t server, std::string_view text);
  /// Of a piece of JSON of the server's that is no message. Nullopt: it does not pass.
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

}  // namespace cellblock::gateway
