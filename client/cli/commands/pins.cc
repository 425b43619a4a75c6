#include "client/cli/commands/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include "client/cli/status/pin_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_advised = 8;

bool pins_nothing(const Json& server) { return raw_text(server, "pin") == "off"; }

std::string diffs_text(const Context& /*context*/, const Json& server, const PinRequest& request,
                       Style style) {
  std::string text;
  for (const auto& one : objects_of(server, "definitions")) {
    if (!is_withheld(one) || !is_of_request(one, request)) continue;
    text += withheld_text(server, one, style);
    if (text_of(one, "digest").empty()) continue;
    text += fmt::format(
        "  for this user: cellblock approve allow {}/{}\n  for all users: accepted_definitions = "
        "[\"{}\"] in [server.{}], then cellblock reload\n",
        text_of(server, "server"), text_of(one, "name"), text_of(one, "digest"),
        text_of(server, "server"));
  }
  return text;
}

struct Tally {
  Json done = Json::array();
  Json refused = Json::array();
};

void add_to(Json& list, const Json& answer, const char* name) {
  for (const auto& one : objects_of(answer, name)) list.push_back(one);
}

// Only what was shown here: what has changed since, somebody has to look at again.
client::Result<void> accept_one(const Context& context, const PinRequest& request,
                                const Json& definition, Tally& tally) {
  Json params{{"server", request.server},
              {"kind", raw_text(definition, "kind")},
              {"name", raw_text(definition, "name")}};
  const auto digest = raw_text(definition, "digest");
  if (!digest.empty()) params["digest"] = digest;
  const auto text = CELLBLOCK_TRY(ask_daemon(context, control_method::pin_accept, dumped(params)));
  const Json answer = Json::parse(text, nullptr, false);
  add_to(tally.done, answer, "accepted");
  add_to(tally.refused, answer, "refused");
  return {};
}

void print_tally(const Tally& tally) {
  for (const auto& one : tally.done) fmt::print("accepted {}\n", pin_label(one));
  for (const auto& one : tally.refused) {
    fmt::print("not accepted: {}: {}\n", pin_label(one), text_of(one, "reason"));
  }
}

Exit end_with(const Context& context, const Tally& tally) {
  if (context.output == Output::json) {
    print_json(dumped(Json{{"accepted", tally.done}, {"refused", tally.refused}}));
  } else {
    print_tally(tally);
  }
  return tally.refused.empty() ? Exit::ok : Exit::refused;
}

// By its beginning: whoever compares more than that by eye compares less.
bool has_digest(const Json& definition, const std::string& beginning) {
  return beginning.empty() || raw_text(definition, "digest").starts_with(beginning);
}

Json names_of(const std::vector<Json>& definitions) {
  Json names = Json::array();
  for (const auto& one : definitions) {
    names.push_back(Json{{"kind", raw_text(one, "kind")},
                         {"name", raw_text(one, "name")},
                         {"digest", raw_text(one, "digest")}});
  }
  return names;
}

std::string withheld_line(const Json& definition) {
  const auto digest = text_of(definition, "digest");
  return fmt::format(
      "withheld: {}{}", pin_label(definition),
      digest.empty() ? ", which is too long to be accepted" : "\n    --digest " + digest);
}

// What could have been meant, one a line.
std::string advice_on_withheld(const Context& context, const PinRequest& request,
                               const std::vector<Json>& withheld) {
  if (withheld.empty()) return "Nothing of this server is withheld.";
  std::string advice;
  for (const auto& one : withheld | std::views::take(most_advised)) {
    advice += withheld_line(one) + "\n  ";
  }
  return advice + fmt::format("\"cellblock approve show {}{}\" shows {}, line by line.",
                              safe_line(request.server), for_flag(context),
                              withheld.size() > most_advised
                                  ? fmt::format("all {}", withheld.size())
                                  : std::string("what that is"));
}

std::string why_nothing(const PinRequest& request, const Json& server) {
  if (pins_nothing(server)) {
    return fmt::format("{} has pin = \"off\": nothing of it is withheld", request.server);
  }
  if (!knows({server}, request)) return unknown_definition(request).text;
  return fmt::format(
      "nothing was accepted: {} of {} that is withheld has a digest that begins with {}",
      request.name.empty() ? "no definition" : fmt::format("no \"{}\"", request.name),
      request.server, request.digest);
}

// Of a name that is withheld, that alone.
std::vector<Json> named_or_all(const std::vector<Json>& withheld, const PinRequest& request) {
  auto named = withheld;
  std::erase_if(named, [&](const Json& one) { return !is_of_request(one, request); });
  return named.empty() ? withheld : named;
}

Exit accept_nothing(const Context& context, const PinRequest& request, const Json& server) {
  const auto known = objects_of(server, "definitions");
  const auto is_done = [&](const Json& one) {
    return !is_withheld(one) && is_of_request(one, request) && has_digest(one, request.digest);
  };
  const auto withheld = withheld_of(server);
  const bool names_none = request.name.empty() && request.digest.empty();
  if ((names_none && withheld.empty()) ||
      (!request.name.empty() && std::ranges::any_of(known, is_done))) {
    if (context.output == Output::json) return end_with(context, {});
    fmt::print("{}\n", names_none ? "Nothing is withheld." : "It is pinned already.");
    return Exit::ok;
  }
  const client::Error error{.code = client::ErrorCode::refused,
                            .text = why_nothing(request, server),
                            .data = dumped(Json{{"withheld", names_of(withheld)}})};
  return explain(context, error,
                 advice_on_withheld(context, request, named_or_all(withheld, request)));
}

}  // namespace

// Fewer say too little, and none would say nothing.
std::string digest_mistake(const std::string& digest) {
  constexpr std::size_t fewest = 8;
  constexpr std::size_t most = 64;
  const bool is_digest = digest.size() >= fewest && digest.size() <= most &&
                         digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? std::string()
                   : fmt::format(
                         "{}: expected 8 to 64 hexadecimal digits, as \"cellblock approve "
                         "show\" prints them",
                         digest);
}

client::Result<std::string> ask_for_pins(const Context& context, const PinRequest& request) {
  Json params{{"definitions", true}};
  if (!request.server.empty()) params["server"] = request.server;
  return ask_daemon(context, control_method::pins, dumped(params));
}

bool is_of_request(const Json& definition, const PinRequest& request) {
  return request.name.empty() || raw_text(definition, "name") == request.name;
}

std::string for_flag(const Context& context) {
  return context.whose.empty() ? std::string() : " --for " + safe_line(context.whose);
}

// What names nothing must not pass for good news.
client::Error unknown_definition(const PinRequest& request) {
  return {.code = client::ErrorCode::refused,
          .text = fmt::format("{} has shown no tool, prompt or template \"{}\"", request.server,
                              request.name)};
}

std::string advice_to_list(const Context& context, const PinRequest& request) {
  return fmt::format("\"cellblock pinned {}{}\" lists those that are known.",
                     safe_line(request.server), for_flag(context));
}

bool knows(const std::vector<Json>& servers, const PinRequest& request) {
  return request.name.empty() || std::ranges::any_of(servers, [&](const Json& server) {
           return pins_nothing(server) ||
                  std::ranges::any_of(
                      objects_of(server, "definitions"),
                      [&](const Json& definition) { return is_of_request(definition, request); });
         });
}

client::Result<std::vector<Json>> servers_in(const Context& context, const std::string& pins,
                                             const PinRequest& request) {
  auto servers = objects_of(Json::parse(pins, nullptr, false), "servers");
  if (!servers.empty() || request.server.empty()) return servers;
  return std::unexpected(
      client::Error{.code = client::ErrorCode::refused,
                    .text = fmt::format("there is no server \"{}\" for {}", request.server,
                                        context.whose.empty() ? "this user" : context.whose)});
}

std::vector<Json> withheld_of(const Json& server) {
  auto withheld = objects_of(server, "definitions");
  std::erase_if(withheld, [](const Json& definition) { return !is_withheld(definition); });
  return withheld;
}

Exit print_pins(const Context& context, const PinRequest& request, const char* nothing,
                PinText text) {
  const auto pins = ask_for_pins(context, request);
  if (!pins) return explain(context, pins.error());
  const auto servers = servers_in(context, *pins, request);
  if (!servers) return explain(context, servers.error());
  if (!knows(*servers, request)) {
    return explain(context, unknown_definition(request), advice_to_list(context, request));
  }
  if (context.output == Output::json) return print_json(*pins);
  std::string all;
  for (const auto& server : *servers) all += text(context, server, request, Style::for_stdout());
  fmt::print("{}", all.empty() ? nothing : all);
  return Exit::ok;
}

std::vector<Json> withheld_at(const Context& context) {
  std::vector<Json> all;
  const auto pins = ask_for_pins(context, {});
  if (!pins) return all;
  for (const Json& server : objects_of(Json::parse(*pins, nullptr, false), "servers")) {
    const auto name = raw_text(server, "server");
    for (const Json& one : withheld_of(server)) {
      all.push_back(Json{{"id", name + "/" + raw_text(one, "name")},
                         {"user", context.whose},
                         {"server", name},
                         {"kind", raw_text(one, "kind")},
                         {"name", raw_text(one, "name")},
                         {"text", raw_text(one, "text")},
                         {"digest", raw_text(one, "digest")}});
    }
  }
  return all;
}

void print_withheld(const Json& one) {
  const auto user = text_of(one, "user");
  fmt::print("{}  withheld: the {} {}{}\n", text_of(one, "id"), text_of(one, "kind"),
             text_of(one, "text"), user.empty() ? user : "  --for " + user);
}

Exit show_withheld(const Context& context, const PinRequest& request) {
  return print_pins(context, request, "Nothing is withheld.\n", diffs_text);
}

Exit explain_decision(const Context& context, const client::Error& error) {
  if (context.whose.empty() && error.failure == "denied") {
    return explain(context, error, "Ask root or a user of daemon.admins.");
  }
  return explain(context, error);
}

Exit accept_pins(const Context& context, const PinRequest& request) {
  const auto pins = ask_for_pins(context, request);
  if (!pins) return explain(context, pins.error());
  const auto servers = servers_in(context, *pins, request);
  if (!servers) return explain(context, servers.error());
  auto meant = withheld_of(servers->front());
  std::erase_if(meant, [&](const Json& one) {
    return !is_of_request(one, request) || !has_digest(one, request.digest);
  });
  if (meant.empty()) return accept_nothing(context, request, servers->front());
  Tally tally;
  for (const auto& one : meant) {
    if (context.output == Output::human) {
      fmt::print("{}", withheld_text(servers->front(), one, Style::for_stdout()));
    }
    const auto accepted = accept_one(context, request, one, tally);
    if (!accepted) return explain_decision(context, accepted.error());
  }
  return end_with(context, tally);
}

}  // namespace cellblock::cli
