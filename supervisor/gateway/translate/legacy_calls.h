#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/encoding/sha256.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/os/clock.h"

/// A modern host's calls at a legacy server, and the questions that the server asks meanwhile.
namespace cellblock::gateway {

/// SHA-256 of what a retry must have in common with the request that was answered by a question:
/// the method and all params but `_meta`, `inputResponses` and `requestState`. The order of members
/// does not count.
Sha256 digest_of(std::string_view method, const Json& params);

/// A request of the server's own that waits for the host.
struct Question {
  std::string server_id;  ///< raw JSON
  std::string key;        ///< in inputRequests
  std::string method;
  Json ask;  ///< {method, params} for the host
  std::size_t bytes = 0;
  enum class Told : bool { no, yes } told = Told::no;
};

/// How a call ended, as the host will see it.
struct Ending {
  enum class Member : bool { result, error } member = Member::result;
  Json body;
  std::size_t bytes = 0;
};

struct LegacyCall {
  enum class State : std::uint8_t {
    running,
    asking,   ///< questions are there; more may come before the host hears of them
    parked,   ///< the host has been asked; at the server the call is still in flight
    over,     ///< the same, and the server's answer is here
    url_due,  ///< it failed for want of a visit to a URL: a retry calls anew
  };

  std::uint64_t own_id = 0;
  std::string host_id;  ///< raw JSON; empty where no request of the host waits for it
  std::string method;
  std::string uri;      ///< of resources/read
  Json progress_token;  ///< null: none wanted
  Json capabilities;    ///< of the request, as far as the server may use them
  std::string log_level;
  Sha256 digest{};
  State state = State::running;
  Time due;                  ///< asking: of the questions; later: when it is given up
  std::uint64_t ticket = 0;  ///< what the sealed state holds; 0: none is out
  unsigned rounds = 0;
  unsigned asked = 0;  ///< questions so far
  std::vector<Question> questions;
  std::optional<Ending> ending;

  bool is_at_server() const { return state != State::over && state != State::url_due; }
  bool waits_for_host() const { return ticket != 0; }
};

class LegacyCalls {
 public:
  LegacyCall& open(LegacyCall call) { return calls_.emplace_back(std::move(call)); }

  /// At the server, by our id or progress token.
  LegacyCall* find(std::uint64_t own_id) {
    return find_if(
        [own_id](const LegacyCall& c) { return c.own_id == own_id && c.is_at_server(); });
  }
  bool has_host(std::string_view host_id) const {
    return std::ranges::any_of(calls_,
                               [host_id](const LegacyCall& c) { return c.host_id == host_id; });
  }
  /// Our id of it; 0: there is none.
  std::uint64_t asked_as(std::string_view host_id) const {
    const auto found = std::ranges::find(calls_, host_id, &LegacyCall::host_id);
    return found == calls_.end() ? 0 : found->own_id;
  }
  LegacyCall* find_host(std::string_view host_id) {
    return find_if([host_id](const LegacyCall& c) { return c.host_id == host_id; });
  }
  LegacyCall* find_ticket(std::uint64_t ticket) {
    return find_if([ticket](const LegacyCall& c) { return ticket != 0 && c.ticket == ticket; });
  }

  /// Invalidates what find() gave.
  LegacyCall take(const LegacyCall* call) {
    const auto at = calls_.begin() + (call - calls_.data());
    LegacyCall taken = std::move(*at);
    calls_.erase(at);
    return taken;
  }
  std::vector<LegacyCall> take_all() { return std::exchange(calls_, {}); }

  std::vector<LegacyCall>& all() { return calls_; }
  const std::vector<LegacyCall>& all() const { return calls_; }

  std::size_t waiting_for_host() const {
    return static_cast<std::size_t>(std::ranges::count_if(calls_, &LegacyCall::waits_for_host));
  }

 private:
  template <class Is>
  LegacyCall* find_if(Is is) {
    const auto found = std::ranges::find_if(calls_, is);
    return found == calls_.end() ? nullptr : &*found;
  }

  std::vector<LegacyCall> calls_;
};

}  // namespace cellblock::gateway
