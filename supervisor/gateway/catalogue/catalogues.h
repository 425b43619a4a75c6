#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "policy/failures/failure.h"
#include "supervisor/gateway/checks/catalogue.h"

/// What the rest of the gateway asks about catalogues. There is one object per gateway; servers are
/// named by their index in the configuration. Not thread-safe. Permissions are not decided here: a
/// catalogue holds what the server offers to any user.
namespace cellblock::gateway {

enum class Speaks : std::uint8_t { unknown, yes, no };

/// Which eras a server's program speaks. Some speak both.
struct Eras {
  Speaks legacy = Speaks::unknown;
  Speaks modern = Speaks::unknown;
  bool operator==(const Eras&) const = default;
};

/// A server whose last survey failed.
struct Broken {
  enum class Rest : std::uint8_t {
    over,
    not_over,  ///< callers that want all servers must not ask for this one: each failure costs a
               ///< cell
  };
  Failure failure;
  Rest rest = Rest::over;
};

class Catalogues {
 public:
  /// `catalogue` is null if there is none; then `failure` says why. Both are gone after the call.
  using Told = std::function<void(const Catalogue* catalogue, const Failure& failure)>;
  using Waiter = std::uint64_t;  ///< never 0

  /// What is known, if it is not past its expiry: from disk, a survey, or a session. Starts
  /// nothing. Valid until the next turn of the loop; null: nothing, or too old.
  virtual const Catalogue* find(std::uint32_t server) const = 0;
  /// From the declaration (`era` in the TOML), or as observed.
  virtual Eras eras(std::uint32_t server) const = 0;
  /// Why the server's last survey failed, if nothing has been learnt since; nullopt otherwise.
  virtual std::optional<Broken> broken(std::uint32_t server) const = 0;

  /// Calls back once, never during this call: with what find() gives, else after a survey in a cell
  /// of its own. Any number may wait for one survey. After a survey that failed others fail at once
  /// for a while; a catalogue that is past its expiry is given rather than such a failure.
  virtual Waiter want(std::uint32_t server, Told told) = 0;
  /// The callback will not be called. Unknown ones are ignored.
  virtual void forget(Waiter waiter) = 0;

  /// What a session saw of a server that was offered no client capability: the items of all pages
  /// of a list as one JSON array, or the whole result of `initialize` or `server/discover`.
  virtual void learn_list(std::uint32_t server, ListKind kind, std::string_view items) = 0;
  virtual void learn_answer(std::uint32_t server, Era era, std::string_view result) = 0;
  virtual void learn_speaks(std::uint32_t server, Era era, Speaks speaks) = 0;
  /// The server announced a change. The known list is still returned, and is fetched again (at most
  /// once a minute) when a caller wants it.
  virtual void list_changed(std::uint32_t server, ListKind kind) = 0;
  /// Nothing of it is known any more, on disk neither: `cellblock restart`.
  virtual void forget_server(std::uint32_t server) = 0;

 protected:
  ~Catalogues() = default;
};

/// What a survey sets out with.
struct SurveyStart {
  enum class Hurry : std::uint8_t {
    somebody_waits,
    nobody_waits,  ///< a slow server may take longer for server/discover than era_timeout
  };
  Eras known;
  Hurry hurry = Hurry::somebody_waits;
};

}  // namespace cellblock::gateway
