#include "client/cli/common/advice.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "client/cli/terminal/exit_code.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "client/connection/unix_connect.h"
#include "policy/config/names.h"
#include "policy/failures/end_verdict.h"
#include "policy/failures/failure.h"

namespace cellblock::cli {
namespace {

using client::ErrorCode;

Json data_of(const client::Error& error) {
  auto data = Json::parse(error.data, nullptr, false);
  return data.is_object() ? data : Json::object();
}

std::optional<FailureCode> failure_of(const client::Error& error) {
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    const auto code = static_cast<FailureCode>(i);
    if (error.failure == name_of(code)) return code;
  }
  return std::nullopt;
}

std::string as_sentence(std::string_view advice) {
  std::string sentence(advice);
  if (sentence.empty()) return sentence;
  if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence + ".";
}

// Who may use nothing at all: no list of servers would be any help.
std::string advice_to_nobody() {
  if (::geteuid() != 0) {
    return "Ask the administrator to name this user in allow.users, or a group of his in "
           "allow.groups, of a server.";
  }
  return "root is not a user of any server. For all users: cellblock status; for one: --for USER, "
         "where a command has it. To use a server, act as a user who may:\n"
         "  setpriv --reuid USER --regid GROUP --init-groups cellblock ...\n"
         "  What was done is in the audit log: cellblock audit.";
}

// A user's own daemon is asked where its socket is, and hides the system's.
std::string advice_on_other_daemon(const Situation& situation) {
  const auto own = client::user_socket_path();
  const bool is_own = !own.empty() && situation.socket == own;
  if (!is_own || ::access(client::system_socket_path().c_str(), F_OK) != 0) return {};
  return " This is your own cellblockd; --system asks the system's.";
}

std::string for_user(const Situation& situation) {
  return situation.whose.empty() ? std::string() : " --for " + safe_line(situation.whose);
}

// Where a server has written it, it may be anything.
std::string server_in(const Json& data) {
  auto name = text_of(data, "server");
  return is_short_name(name) ? name : std::string();
}

std::string on_rate(const Json& data) {
  const auto wait = number_of(data, "retry_after_ms");
  if (wait <= 0) return "Try again later, and less often.";
  return fmt::format("Try again in {}, and less often.",
                     duration_text(std::chrono::milliseconds(wait)));
}

// Rules of [flows] judge by what was read before. The rule's name ends the sentence, as the gateway
// writes it; a server that writes the same gets the same fixed words.
std::string on_denied(const client::Error& error) {
  const auto sentence = sentence_of(error);
  const bool is_by_flow_rule = sentence.ends_with(')') && sentence.contains("(flows.");
  if (!is_by_flow_rule) return as_sentence(advice_for(FailureCode::denied));
  return "What was read before in this context decides. Begin a new context (\"cellblock connect "
         "--label context=NAME\"), or ask an administrator about [flows].";
}

/// What it says to do where that is more than its code tells.
std::string own_advice(const Json& data, FailureCode failure) {
  auto advice = text_of(data, "advice");
  return advice == advice_for(failure) ? std::string() : advice;
}

// cellblock's own failures. Where the command can say more than what models are told, it does.
std::string on_failure(FailureCode failure, const client::Error& error,
                       const Situation& situation) {
  const Json data = data_of(error);
  const auto named = server_in(data);
  const std::string server = named.empty() ? "NAME" : named;
  switch (failure) {
    case FailureCode::not_allowlisted:
      return named.empty() ? advice_to_nobody()
                           : fmt::format("\"cellblock status{}\" lists {}.{}", for_user(situation),
                                         situation.whose.empty() ? "the servers that you may use"
                                                                 : "his servers",
                                         advice_on_other_daemon(situation));
    case FailureCode::server_failed:
    case FailureCode::handshake_timeout:
      if (const auto advice = own_advice(data, failure); !advice.empty()) {
        return as_sentence(safe_line(advice));
      }
      return fmt::format(R"("cellblock status {0}" and "cellblock logs {0}" tell more.)", server);
    case FailureCode::workspace_refused:
      return fmt::format("\"cellblock status {}\" shows which directories it may be given, if any.",
                         server);
    case FailureCode::disabled:
      return named.empty()
                 ? "\"cellblock enable\" switches it on again (for administrators), unless "
                   "the configuration says enabled = false."
                 : "An administrator changes that, and runs \"cellblock reload\".";
    case FailureCode::denied:
      return on_denied(error);
    case FailureCode::rate_limited:
      return on_rate(data);
    case FailureCode::quarantined:
      return fmt::format(
          "\"cellblock approve show {0}\" shows it; \"cellblock approve allow {0}\" is for "
          "administrators.",
          server);
    default:
      return as_sentence(advice_for(failure));
  }
}

constexpr const char* for_others =
    "Name another user in daemon.admins (or let root do it): nobody is his own administrator.";

std::string at_door(ErrorCode code, const std::string& whose) {
  if (code == ErrorCode::unreachable) {
    return fmt::format(
        "A user's gateway runs while he is connected, and ten minutes longer: {} has none now.",
        whose);
  }
  if (code != ErrorCode::no_access) return {};
  return "Only root and those whom daemon.admins names look after other users' servers.";
}

// Where the mode lets nobody in, no group helps.
std::string on_closed_socket(const std::string& socket) {
  constexpr mode_t group_writes = S_IWGRP;
  constexpr mode_t others_write = S_IWOTH;
  struct stat status{};
  const bool is_known = ::stat(socket.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
  if (is_known && (status.st_mode & (group_writes | others_write)) == 0) {
    return fmt::format(
        "Its mode {:04o} lets nobody but its owner in: see SocketMode= of "
        "cellblock.socket, and mode of [socket].",
        status.st_mode & 07777U);
  }
  return fmt::format("You need to be in the group of that socket: see \"ls -l {}\".",
                     safe_line(socket));
}

std::string on_connection(ErrorCode code, const Situation& situation) {
  switch (code) {
    case ErrorCode::unreachable:
      return "Start cellblockd, or name the socket of one that runs with --socket PATH "
             "(or CELLBLOCK_SOCKET).";
    case ErrorCode::no_access:
      return on_closed_socket(situation.socket);
    case ErrorCode::untrusted_listener:
      return "Nothing was sent. Put the socket where only root, you or the daemon can write.";
    case ErrorCode::disconnected:
      return "Try again; if it stays so, the daemon's log may say why.";
    case ErrorCode::timed_out:
      return situation.patience == Patience::asked_for
                 ? "Allow more time with --timeout."
                 : "Try again; if it stays so, see the daemon's log.";
    case ErrorCode::too_many:
    case ErrorCode::unavailable:
      return "Try again later.";
    case ErrorCode::server_failed:  // none of the failures: on purpose
      return "Somebody stopped it, or the daemon did. A new session starts a fresh cell.";
    default:
      return {};
  }
}

}  // namespace

std::string advice_on(const client::Error& error, const Situation& situation) {
  const auto failure = failure_of(error);
  if (!situation.whose.empty()) {
    if (failure == FailureCode::denied) return for_others;
    if (auto advice = at_door(error.code, safe_line(situation.whose)); !advice.empty())
      return advice;
  }
  if (is_no_such_tool(error)) return R"("cellblock tools" lists those that you may call.)";
  return failure ? on_failure(*failure, error, situation) : on_connection(error.code, situation);
}

std::string topic_of(const client::Error& error) {
  switch (error.code) {
    case ErrorCode::unreachable:
    case ErrorCode::no_access:
    case ErrorCode::untrusted_listener:
    case ErrorCode::disconnected:
      return std::string(client::name_of(error.code));
    default:
      break;
  }
  const auto failure = failure_of(error);
  if (!failure) return {};
  auto verdict = text_of(data_of(error), "verdict");
  for (std::uint8_t i = 0; i < verdict_count; ++i) {
    if (verdict == name_of(static_cast<Verdict>(i))) return verdict;
  }
  return std::string(name_of(*failure));
}

std::string sentence_of(const client::Error& error) {
  const auto failure = failure_of(error);
  if (!failure) return error.text;
  const auto own = own_advice(data_of(error), *failure);
  const std::string behind = "\n" + (own.empty() ? std::string(advice_for(*failure)) : own);
  return error.text.ends_with(behind) ? error.text.substr(0, error.text.size() - behind.size())
                                      : error.text;
}

}  // namespace cellblock::cli
