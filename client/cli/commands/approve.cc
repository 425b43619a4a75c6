#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/commands/call_name.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/pins.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What is decided about calls that wait, and about definitions that are withheld. A call is named
// "UID.NUMBER", or by its number alone where no other has it; a definition "SERVER/NAME".
namespace cellblock::cli {
namespace {

constexpr Option decision_word{
    .name = "WORD", .what = "show, allow, deny or next; without it: a list", .choices = [] {
      return std::vector<std::string>{"show", "allow", "deny", "next"};
    }};
constexpr Option call_id{.name = "ID",
                         .what =
                             "which call or definition, as the list names it; of a server's "
                             "name alone, all that is withheld of it; with next: SERVER/TOOL"};
constexpr Option call_digest{.name = "--digest",
                             .what = "only if its digest begins so, as show printed it"};

constexpr Option follow_calls = flag("--follow", "go on, and tell calls as they come");

struct ApproveRequest {
  std::string word;    ///< "show", "allow" or "deny"
  std::string id;      ///< as it was typed
  std::string digest;  ///< allow, deny: what that of the call that is meant begins with
};

client::Result<Json> ask_about_calls(const Context& admin, std::string_view method,
                                     const Json& params) {
  const auto text = CELLBLOCK_TRY(ask_daemon(admin, method, params.dump()));
  auto json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  return std::unexpected(client::Error{.code = client::ErrorCode::protocol,
                                       .text = "the daemon's answer cannot be read"});
}

std::string besides_text(const Json& call) {
  const auto names = texts_of(call, "besides");
  return names.empty() ? "" : fmt::format("\n    and {} (show it)", fmt::join(names, ", "));
}

std::string times_text(const Json& call) {
  const auto times = number_of(call, "times");
  return times > 1 ? fmt::format(", asked for {} times", times) : "";
}

void print_line(std::uint32_t uid, const Json& call) {
  fmt::print("{}.{}  {}  {}  {} {}  {} s left{}\n    {}{}{}\n", uid, number_of(call, "approval"),
             safe_line(user_name(uid)), text_of(call, "server"), text_of(call, "method"),
             text_of(call, "name"), number_of(call, "left_ms") / 1000, times_text(call),
             safe_line(raw_text(call, "arguments")),
             call.contains("cut")
                 ? fmt::format(" … ({} bytes in all: show it)", number_of(call, "arguments_bytes"))
                 : "",
             besides_text(call));
}

void print_whole(std::uint32_t uid, const Json& call) {
  fmt::print(
      "call:      {}.{}\nuser:      {} (uid {})\nserver:    {}\nmethod:    {}\nname:      {}\n"
      "rule:      {} (asks: {})\nsession:   {}, cell {}\nleft:      {} s{}\n",
      uid, number_of(call, "approval"), safe_line(user_name(uid)), uid, text_of(call, "server"),
      text_of(call, "method"), text_of(call, "name"), text_of(call, "rule"),
      text_of(call, "approver"), number_of(call, "session"), number_of(call, "cell"),
      number_of(call, "left_ms") / 1000, times_text(call));
  fmt::print(
      "digest:    {}\nwhat the server will get: {} bytes; whatever is not ASCII is escaped\n{}\n",
      text_of(call, "digest"), number_of(call, "params_bytes"),
      escaped_json(raw_text(call, "params")));
}

/// Whose calls one may decide about: with a gateway of his own, an administrator sees those of
/// others only.
enum class Whose : std::uint8_t { all, others };

void print_none(Whose whose) {
  fmt::print("{}\n", whose == Whose::all
                         ? "no call waits for an approval"
                         : "no call of another user waits for an approval; about yours somebody "
                           "else decides");
}

// Without any such socket nobody was asked, which is no news about calls.
std::optional<client::Error> fault_without(const Context& context,
                                           const std::vector<AdminSocket>& sockets) {
  return sockets.empty() ? daemon_fault(context) : std::nullopt;
}

// Of one's own, as far as there are any, and of the users behind these sockets.
Json all_withheld(const Context& context, const std::vector<AdminSocket>& sockets) {
  Json all = Json::array();
  const auto take = [&all](const Context& from) {
    for (const Json& one : withheld_at(from)) all.push_back(one);
  };
  take(context);
  for (const AdminSocket& admin : sockets) {
    if (admin.uid != ::geteuid()) take(behind(context, admin));
  }
  return all;
}

Exit list(const Context& context) {
  const auto sockets = list_admin_sockets(context.socket);
  if (!sockets) return explain(context, sockets.error());
  if (const auto fault = fault_without(context, *sockets)) return explain(context, *fault);
  Exit worst = Exit::ok;
  auto whose = Whose::all;
  Json all = Json::array();
  for (const AdminSocket& admin : *sockets) {
    const Context at_door = behind(context, admin);
    const auto answer = ask_about_calls(at_door, control_method::approvals, Json::object());
    if (!answer && is_for_others(admin, answer.error())) {
      whose = Whose::others;
      continue;
    }
    if (!answer) {
      worst = explain(at_door, answer.error());
      continue;
    }
    for (Json& call : objects_of(*answer, "approvals")) {
      if (context.output == Output::human) print_line(admin.uid, call);
      call["uid"] = admin.uid;
      call["id"] = fmt::format("{}.{}", admin.uid, number_of(call, "approval"));
      all.push_back(std::move(call));
    }
  }
  if (context.output == Output::json) {
    if (worst != Exit::ok) return worst;  // which has been said, as a document
    return print_json(
        dumped(Json{{"approvals", all}, {"withheld", all_withheld(context, *sockets)}}));
  }
  if (all.empty() && worst == Exit::ok) print_none(whose);
  for (const Json& one : all_withheld(context, *sockets)) print_withheld(one);
  return worst;
}

// --- as they come --------------------------------------------------------------------------------

/// Connections that stay: each new one would be a record in the audit log.
using Watched = std::map<std::uint32_t, client::Client>;

constexpr int look_again_ms = 1'000;

std::vector<Json> calls_at(client::Client& gateway) {
  const auto answer = gateway.request(control_method::approvals, "{}");
  return answer ? objects_of(Json::parse(*answer, nullptr, false), "approvals")
                : std::vector<Json>{};
}

// A gateway that has ended is asked anew when its socket is there again. One's own says no.
void watch_new_gateways(const Context& context, Watched& watched, std::set<std::uint32_t>& closed) {
  const auto sockets = list_admin_sockets(context.socket);
  if (!sockets) return;
  const auto is_there = [&](std::uint32_t uid) {
    return std::ranges::find(*sockets, uid, &AdminSocket::uid) != sockets->end();
  };
  std::erase_if(watched, [&](const auto& entry) { return !is_there(entry.first); });
  std::erase_if(closed, [&](std::uint32_t uid) { return !is_there(uid); });
  for (const AdminSocket& admin : *sockets) {
    if (watched.contains(admin.uid) || closed.contains(admin.uid)) continue;
    auto gateway = open(behind(context, admin));
    const bool is_heard = gateway && gateway->request(control_method::approvals, "{}").has_value();
    if (is_heard) watched.emplace(admin.uid, std::move(*gateway));
    if (!is_heard) closed.insert(admin.uid);
  }
}

// Its sockets for administrators go with it; that for hosts may be systemd's.
bool has_ended(const Context& context) {
  return ::access(switch_path(context.socket, "disable").c_str(), F_OK) != 0;
}

client::Error no_daemon(const Context& context) {
  return daemon_fault(context).value_or(
      client::Error{.code = client::ErrorCode::unreachable,
                    .text = "no cellblockd with sockets for administrators runs here"});
}

void tell_new_call(const Context& context, std::uint32_t uid, Json call) {
  if (context.output == Output::human) {
    print_line(uid, call);
  } else {
    call["uid"] = uid;
    call["id"] = fmt::format("{}.{}", uid, number_of(call, "approval"));
    fmt::print("{}\n", dumped(call));
  }
  static_cast<void>(std::fflush(stdout));
}

// Until it is interrupted, or nobody reads what it prints, or the daemon ends.
Exit follow(const Context& context) {
  Watched watched;
  std::set<std::uint32_t> closed;
  std::set<std::string> told;
  for (;;) {
    watch_new_gateways(context, watched, closed);
    if (has_ended(context)) return explain(context, no_daemon(context));
    std::set<std::string> waiting;
    for (auto& [uid, gateway] : watched) {
      for (Json& call : calls_at(gateway)) {
        auto id = fmt::format("{}.{}", uid, number_of(call, "approval"));
        if (!told.contains(id)) tell_new_call(context, uid, std::move(call));
        waiting.insert(std::move(id));
      }
    }
    told = std::move(waiting);
    pollfd reader{STDOUT_FILENO, 0, 0};
    if (::poll(&reader, 1, look_again_ms) > 0) return Exit::ok;
  }
}

Exit explain_none(const Context& context, const client::Error& error) {
  return explain(context, error, "\"cellblock approve\" lists those that wait.");
}

Exit show(const Context& context, const CallName& name, const std::string& id) {
  const Context admin = behind(context, admin_socket_of(context.socket, name.uid));
  const auto answer =
      ask_about_calls(admin, control_method::approvals, Json{{"approval", name.number}});
  if (!answer) return explain(admin, answer.error());
  const auto calls = objects_of(*answer, "approvals");
  if (calls.empty()) return explain_none(context, none_waits(id));
  if (context.output == Output::json) return print_json(calls.front().dump());
  print_whole(name.uid, calls.front());
  return Exit::ok;
}

// Numbers begin at a random one with each gateway of a user. A digest tells for certain whether it
// still is the call that somebody has looked at.
client::Result<Json> params_of(const Context& admin, const CallName& name,
                               const ApproveRequest& request) {
  Json params = {{"approval", name.number}, {"word", request.word}};
  if (request.digest.empty()) return params;
  const auto answer = CELLBLOCK_TRY(
      ask_about_calls(admin, control_method::approvals, Json{{"approval", name.number}}));
  for (const Json& call : objects_of(answer, "approvals")) {
    const std::string digest = raw_text(call, "digest");
    if (digest.starts_with(request.digest)) {
      params["digest"] = digest;
      return params;
    }
  }
  return std::unexpected(client::Error{
      .code = client::ErrorCode::refused,
      .text = fmt::format("no call \"{}\" of this digest waits; look at it again with "
                          "\"cellblock approve show {}\"",
                          request.id, request.id)});
}

Exit decide(const Context& context, const CallName& name, const ApproveRequest& request) {
  const Context admin = behind(context, admin_socket_of(context.socket, name.uid));
  const auto params = params_of(admin, name, request);
  if (!params) return explain(admin, params.error());
  const auto answer = ask_about_calls(admin, control_method::approve, *params);
  if (!answer) return explain(admin, answer.error());
  if (!answer->value("decided", false)) return explain_none(context, none_waits(request.id));
  if (context.output == Output::json) return print_json(answer->dump());
  fmt::print("{} {}: {} of {}\n", request.word == "allow" ? "allowed once" : "denied",
             safe_line(request.id), text_of(*answer, "name"), text_of(*answer, "server"));
  return Exit::ok;
}

// --- by its number alone
// --------------------------------------------------------------------------

// Of all users whose calls one may decide about. One that cannot be asked may have such a call too.
client::Result<std::vector<CallName>> calls_numbered(const Context& context, std::uint64_t number) {
  const auto sockets = CELLBLOCK_TRY(list_admin_sockets(context.socket));
  if (auto fault = fault_without(context, sockets)) return std::unexpected(std::move(*fault));
  std::vector<CallName> found;
  std::optional<client::Error> own;
  for (const AdminSocket& admin : sockets) {
    const auto answer = ask_about_calls(behind(context, admin), control_method::approvals,
                                        Json{{"approval", number}});
    if (!answer && !is_for_others(admin, answer.error())) return std::unexpected(answer.error());
    if (!answer) own = answer.error();
    if (answer && !objects_of(*answer, "approvals").empty()) found.push_back({admin.uid, number});
  }
  if (found.empty() && own) return std::unexpected(std::move(*own));
  return found;
}

Exit about_call(const Context& context, const CallName& name, const ApproveRequest& request) {
  return request.word == "show" ? show(context, name, request.id) : decide(context, name, request);
}

Exit about_number(const Context& context, std::uint64_t number, ApproveRequest request) {
  const auto waiting = calls_numbered(context, number);
  if (!waiting) return explain(context, waiting.error());
  const auto name = only_one(number, *waiting);
  if (!name) return explain_none(context, name.error());
  request.id = text_of(*name);
  return about_call(context, *name, request);
}

client::Error misnamed(const std::string& id) {
  return {.code = client::ErrorCode::invalid_argument,
          .text = fmt::format("\"{}\" is no call and no definition: \"cellblock approve\" lists "
                              "those that wait, as UID.NUMBER and SERVER/NAME",
                              id)};
}

client::Error denied_definition(const std::string& id) {
  return {.code = client::ErrorCode::invalid_argument,
          .text = fmt::format("\"{}\" is no call, as \"cellblock approve\" lists it; a definition "
                              "is not denied: it stays withheld until it is allowed",
                              id)};
}

// What begins otherwise was meant as a call's number.
bool begins_as_server(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z';
}

Exit decide_on_definition(const Context& context, const ApproveRequest& request) {
  const auto slash = request.id.find('/');
  const bool has_name = slash != std::string::npos;
  const PinRequest pins{.server = request.id.substr(0, slash),
                        .name = has_name ? request.id.substr(slash + 1) : std::string(),
                        .digest = request.digest};
  if (!begins_as_server(pins.server) || (has_name && pins.name.empty())) {
    return explain(context, misnamed(request.id));
  }
  if (request.word == "show") return show_withheld(context, pins);
  if (request.word == "deny") {
    return explain(context, denied_definition(request.id));
  }
  return accept_pins(context, pins);
}

// --- before it is asked for ----------------------------------------------------------------------

client::Error not_allowed_beforehand(const Json& answer, const std::string& tool) {
  const bool is_asked = answer.value("asked", true);
  return {.code = client::ErrorCode::refused,
          .text = is_asked ? "too many calls of this user are allowed beforehand already"
                           : fmt::format("no rule asks an administrator about {} for this user, so "
                                         "there is nothing to allow beforehand",
                                         safe_line(tool))};
}

Exit allow_next(const Context& context, const ApproveRequest& request, const Words& words) {
  const auto slash = request.id.find('/');
  const std::string server = request.id.substr(0, slash);
  const std::string tool = slash == std::string::npos ? "" : request.id.substr(slash + 1);
  if (server.empty() || tool.empty() || tool.contains('*')) {
    return explain(context,
                   {.code = client::ErrorCode::invalid_argument,
                    .text = fmt::format("\"{}\" is no tool of a server; allowed: SERVER/TOOL, one "
                                        "tool by its whole name",
                                        request.id)});
  }
  const Context admin = context.whose.empty()
                            ? behind(context, admin_socket_of(context.socket, ::geteuid()))
                            : context;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(words.time(within_option)).count();
  const auto answer = ask_about_calls(
      admin, control_method::approve_next,
      Json{{"server", server}, {"name", tool}, {"seconds", seconds < 0 ? 0 : seconds}});
  if (!answer) return explain(admin, answer.error());
  if (!answer->value("allowed", false)) {
    return explain(context, not_allowed_beforehand(*answer, request.id));
  }
  if (context.output == Output::json) return print_json(answer->dump());
  fmt::print("allowed beforehand: the next {} of {} by {}, within {} s, whatever its arguments\n",
             safe_line(tool), safe_line(server), safe_line(admin.whose), seconds);
  return Exit::ok;
}

client::Error without_id(const std::string& word) {
  const std::string_view what = word == "next"
                                    ? "a tool: SERVER/TOOL"
                                    : "the ID of a call, as \"cellblock approve\" lists it";
  return {.code = client::ErrorCode::invalid_argument,
          .text = fmt::format("\"{}\" needs {}", word, what)};
}

Exit run_approve(const Context& context, const Words& words) {
  const ApproveRequest request{.word = words.text(decision_word),
                               .id = words.text(call_id),
                               .digest = words.text(call_digest)};
  if (words.has(follow_calls)) return follow(context);
  if (request.word.empty()) return list(context);
  if (request.id.empty()) return explain(context, without_id(request.word));
  if (request.word == "next") return allow_next(context, request, words);
  if (const auto name = call_name(request.id)) return about_call(context, *name, request);
  if (const auto number = call_number(request.id)) return about_number(context, *number, request);
  return decide_on_definition(context, request);
}

// A call's name tells whose it is.
std::string approve_mistake(const Words& words) {
  const bool is_idle =
      words.has(for_user) &&
      (!words.has(call_id) || call_name(words.text(call_id)) || call_number(words.text(call_id)));
  if (is_idle) return "--for: goes with SERVER/NAME";
  // An empty one is of a script's variable that is not set, and not of whatever is there now.
  const auto mistake =
      words.has(call_digest) ? digest_mistake(words.text(call_digest)) : std::string();
  if (!mistake.empty()) return "--digest: " + mistake;
  const bool is_next = words.has(decision_word) && words.text(decision_word) == "next";
  return words.has(within_option) && !is_next ? "--within: goes with next" : "";
}

}  // namespace

Command approve_command() {
  return {
      .name = "approve",
      .group = Group::decide,
      .what = "calls that wait for an approval, and definitions of servers that are withheld",
      .note =
          "A definition of a tool, prompt or template is pinned when it is first seen or "
          "allowed;\nwhat is new or changed after that is withheld until somebody allows it, as "
          "it is shown then.\n",
      .example =
          "cellblock approve\n  cellblock approve show 1000.3\n  cellblock approve "
          "allow 1000.3\n  cellblock approve deny 1000.3\n  cellblock approve show "
          "files/read_file\n  cellblock approve allow files/read_file --digest 9f86d081884c\n  "
          "cellblock approve next git/git_push --for alice --within 1h",
      .optional = {&decision_word, &call_id},
      .options = {&call_digest, &follow_calls, &within_option, &for_user},
      .excludes = {{&follow_calls, &decision_word}},
      .needs = {{&call_digest, &call_id}},
      .run = run_approve,
      .mistake = approve_mistake};
}

}  // namespace cellblock::cli
