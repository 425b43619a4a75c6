#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// Ids and progress tokens towards the server routes: each server route hides them from its server
/// behind ids that cannot be guessed (calls_in_flight.h), so a count will do here.
class OwnIds {
 public:
  std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

/// What an Aggregate asks of the session that has it. Servers are named by their index in the
/// configuration. A call of to_leg or want_catalogue may come back into the Aggregate (with an
/// answer, a failure, a catalogue) before it returns.
class AggregateEffects {
 public:
  /// A whole message, newline included, of the modern era. Gone when the call returns.
  virtual void to_host(Slices message) = 0;
  /// Likewise, to the server route of a server: which starts its cell if the message needs one.
  virtual void to_leg(std::uint32_t server, Slices message) = 0;

  /// Why the catalogues hold this server as broken; callers do not wait for such a server.
  virtual std::optional<Broken> broken(std::uint32_t server) const = 0;
  /// Ends in catalogue_ready or catalogue_failed, once. Asked again only after that.
  virtual void want_catalogue(std::uint32_t server) = 0;

  /// nullopt: of no server that is known.
  virtual void record(std::optional<std::uint32_t> server, const AuditNote& note) = 0;
  /// The one deadline; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;

 protected:
  ~AggregateEffects() = default;
};

inline void reply_to_host(AggregateEffects& effects, std::string_view text) {
  effects.to_host(std::array<std::string_view, 2>{text, "\n"});
}

inline void send_to_server(AggregateEffects& effects, std::uint32_t server, std::string_view text) {
  effects.to_leg(server, std::array<std::string_view, 2>{text, "\n"});
}

}  // namespace cellblock::gateway
