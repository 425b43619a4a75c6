#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/rates/call_slots.h"
#include "supervisor/gateway/io/held_bytes.h"
#include "supervisor/gateway/message/relay.h"
#include "supervisor/gateway/route/route.h"
#include "supervisor/gateway/search/find_answer.h"
#include "supervisor/gateway/search/listed_tools.h"

/// Between a session and its route, where the host finds tools by search: keeps the host's list
/// short, answers cellblock_find_tools from a list that it asks for in the host's place, and makes
/// cellblock_call_tool the call of that tool. Decides nothing about permission: what is found is
/// what the host would be listed, and what is called passes every check below under its own name.
/// Pure.
namespace cellblock::gateway {

/// Hands on what it does not look at.
class PassingRoute : public Route {
 public:
  /// Once, before anything is said.
  void put_before(std::unique_ptr<Route> route) { route_ = std::move(route); }

  bool stop_server(std::uint32_t server, const Failure& failure, Time now) override {
    return route_->stop_server(server, failure, now);
  }
  bool renew_server(std::uint32_t server, const Failure& failure, Time now) override {
    return route_->renew_server(server, failure, now);
  }
  void replace_server(std::uint32_t server, Time now) override {
    route_->replace_server(server, now);
  }
  void leave() override { route_->leave(); }
  void reconfigure(const ServerSet& changed, Time now) override {
    route_->reconfigure(changed, now);
  }
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) override {
    route_->list_changed(server, kind, now);
  }
  void own_tools_changed(Time now) override { route_->own_tools_changed(now); }
  std::uint64_t cell() const override { return route_->cell(); }
  Traffic traffic(std::uint32_t server) const override { return route_->traffic(server); }

 protected:
  Route& route() { return *route_; }
  const Route& route() const { return *route_; }

 private:
  std::unique_ptr<Route> route_;
};

struct SearchParts {
  const SharedParts& shared;
  const Server* server = nullptr;  ///< null: all as one
  std::uint64_t session = 0;
};

class SearchRoute final : public PassingRoute, private ServerRouteEffects {
 public:
  static constexpr std::size_t max_listings = 8;  ///< at one time: lists and finds together

  SearchRoute(const SearchParts& parts, McpServices& services, ServerRouteEffects& above);

  /// What the route below says goes here.
  ServerRouteEffects& below() { return *this; }
  void from_host(std::string_view line, const Message& message, Time now) override;
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  std::size_t in_flight() const override;
  bool is_in_flight(std::string_view caller_id) const override;

 private:
  /// A call of cellblock_find_tools.
  struct Find {
    FindRequest wanted;
    std::uint64_t call = 0;
    CallSlot place;
    Time began;
  };
  /// A request of the host's that is answered from a list.
  struct Listing {
    explicit Listing(HeldBytes& all) : held(all) {}
    std::size_t bytes() const { return id.size() + meta.size() + listed.held_bytes(); }

    std::string id;  ///< the host's, raw JSON
    Era era{};
    std::string meta;    ///< raw JSON, of the modern era
    std::string own_id;  ///< the id of our request for the next page, raw JSON; empty: none yet
    ListedTools listed;
    std::optional<Find> find;  ///< none: the host's own tools/list
    HeldBytes::Part held;      ///< of the lists of all sessions, as long as this one lasts
  };
  /// cellblock answers these calls itself, so they do not wait for a place.
  struct NoWaiter final : CallWaiter {
    void place_is_free() override {}
  };
  struct Answer {
    std::string text;
  };
  using ListingIt = std::vector<std::unique_ptr<Listing>>::iterator;

  // ServerRouteEffects
  void to_host(Slices message) override;
  void route_running(Time now) override;
  void route_lost(const Failure& failure, After after, Time now) override;
  void route_answered(Time now) override;

  bool taken(std::string_view line, const Message& message, Time now);
  bool cancelled(std::string_view line, const Message& message, Time now);
  void list(std::string_view line, const Message& message, Time now);
  void find(std::string_view line, const Message& message, Time now);
  void call(std::string_view line, const Message& message, Time now);
  std::expected<Find, Failure> admit(std::string_view line, const Message& message, Time now);
  void recorded(std::uint64_t call, AuditState log, Time now);

  Listing& add(std::string_view line, const Message& message);
  void ask_for_page(Listing& listing, std::string_view cursor, Time now);
  void drain(Time now);
  void page_answered(const Answer& answer, Time now);
  void complete(const Listing& listing, Time now);
  std::string shown(const ListedTools& listed) const;
  void fail(const Listing& listing, const Failure& failure, Time now);
  std::unique_ptr<Listing> take(ListingIt listing);
  ListingIt listing_of(std::string_view id);

  AuditPlace place() const;
  void say(std::string_view text);
  void refuse(std::string_view line, const Message& message, const Failure& failure);
  void note_end(const Listing& listing, AuditNote note, Time now);

  const SearchParts parts_;
  const SharedParts shared_;
  McpServices& services_;
  ServerRouteEffects& above_;
  NoWaiter waiter_;
  std::vector<std::unique_ptr<Listing>> listings_;
  Relay<Answer> answers_;
  std::uint64_t last_id_ = 0;
  std::size_t asked_ = 0;  ///< pages that no answer has come for
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  ///< for callbacks of the log
};

}  // namespace cellblock::gateway
