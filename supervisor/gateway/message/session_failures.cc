#include "supervisor/gateway/message/session_failures.h"

#include <fmt/format.h>

#include "policy/base/units.h"
#include "policy/failures/end_verdict.h"
#include "policy/mcp/foreign_framing.h"

namespace cellblock::gateway {
namespace {

std::string_view name_or_nothing(const Server* server) {
  return server == nullptr ? std::string_view{} : server->name;
}

}  // namespace

Failure role_refused(const std::string& role) {
  return plain_failure(FailureCode::denied, "no role \"" + role.substr(0, 64) +
                                                "\" that you may take on this connection");
}

Failure only_admins_decide() {
  return plain_failure(
      FailureCode::denied,
      "only an administrator accepts and forgets what is pinned: root, or a user of "
      "daemon.admins");
}

Failure only_admins_approve() {
  return plain_failure(
      FailureCode::denied,
      "whoever asks does not approve: an administrator does, with cellblock approve");
}

Failure no_servers_here() {
  return plain_failure(FailureCode::denied,
                       "an administrator looks after another user's servers here, and uses none: "
                       "only cellblock's own requests are answered, and not cellblock/attach");
}

Failure not_allowlisted(const std::string& server) {
  return plain_failure(FailureCode::not_allowlisted,
                       "there is no server \"" + server + "\" for this user", server);
}

Failure left_out(const Server& server) {
  const std::string cause = text_of(server.breakage);
  Failure failure = plain_failure(
      FailureCode::server_failed,
      fmt::format("server \"{}\" is broken and left out: {}", server.name, cause), server.name);
  failure.verdict = name_of(Verdict::never_ran);
  failure.cause = cause;
  failure.advice =
      "have an administrator put that right and run `cellblock reload`; other servers are not "
      "affected";
  return failure;
}

Failure line_too_large(std::size_t seen, std::uint64_t limit, const Server* server) {
  return plain_failure(FailureCode::too_large,
                       "a line of at least " + std::to_string(seen) + " bytes; " +
                           std::to_string(limit) + " are allowed",
                       name_or_nothing(server));
}

HostGivenUp host_given_up(HostPatience::Verdict why, const Listen& listen, const Server* server) {
  const std::string_view name = name_or_nothing(server);
  if (why == HostPatience::Verdict::endless_line) {
    return {"endless_line", plain_failure(FailureCode::too_large,
                                          "a line goes on far beyond its limit; the connection is "
                                          "closed: send shorter messages",
                                          name)};
  }
  if (why == HostPatience::Verdict::slow_line) {
    return {"slow_line",
            plain_failure(FailureCode::invalid_request,
                          fmt::format("a line was begun and not ended within {} "
                                      "(socket.line_timeout); the connection is closed: end each "
                                      "message with a newline",
                                      duration_text(listen.line)),
                          name)};
  }
  return {"silent",
          plain_failure(FailureCode::invalid_request,
                        fmt::format("nothing was said within {} of connecting "
                                    "(socket.first_message_timeout); the connection is closed: "
                                    "connect again when there is something to say",
                                    duration_text(listen.first_message)),
                        name)};
}

// Other noise, JSON from a logger included, is nobody's answer; nor is a notification whose fault
// lies beyond the grammar. In doubt it is one: its caller must not wait for ever.
bool may_be_an_answer(std::string_view line, MessageFault fault) {
  if (line.starts_with(utf8_byte_order_mark)) line.remove_prefix(utf8_byte_order_mark.size());
  if (!line.starts_with('{') || !line.contains("\"jsonrpc\"")) return false;
  const bool was_read = fault == MessageFault::not_jsonrpc || fault == MessageFault::bad_params;
  return !was_read || !line.contains("\"method\"");
}

Failure bad_answer(const Refused& refused, const Server* server) {
  return plain_failure(FailureCode::bad_answer,
                       "the server's answer is not valid JSON-RPC: " +
                           std::string(explain(refused.fault)) + " (" + refused.detail + ")",
                       name_or_nothing(server));
}

Failure declared_era_refused(const Server& server, std::string_view method, std::string_view code) {
  return plain_failure(
      FailureCode::server_failed,
      fmt::format("server \"{0}\" refused {1} ({2}), but [server.{0}] says era = "
                  "\"{3}\"; without it the era is found out",
                  server.name, method, code, server.era == ServerEra::modern ? "modern" : "legacy"),
      server.name);
}

Failure unreadable_between_eras(const Refused& refused, std::string_view server) {
  return plain_failure(FailureCode::bad_answer,
                       "a message could not be carried between the eras of MCP: " +
                           std::string(explain(refused.fault)) + " (" + refused.detail + ")",
                       server);
}

AuditNote note_of_refused(const Failure& failure) {
  return {.kind = wire::AuditKind::refused,
          .outcome = wire::AuditOutcome::error,
          .reason = name_of(failure.code)};
}

Failure no_admin_any_more() {
  return plain_failure(FailureCode::denied, "you are no administrator any more", "");
}

Failure removed(const Server& server) {
  return plain_failure(FailureCode::not_allowlisted,
                       "server \"" + server.name + "\" is no longer in the configuration",
                       server.name);
}

Failure token_revoked() {
  return plain_failure(FailureCode::denied,
                       "the bearer token of this session was revoked: ask an administrator for one",
                       "");
}

Failure stopped_by_user(const Server* server) {
  return plain_failure(FailureCode::server_failed, "the server was stopped",
                       name_or_nothing(server));
}

Failure replaced_by_declaration(const Server& server) {
  return plain_failure(FailureCode::server_failed,
                       "the server was started anew, since its declaration has changed",
                       server.name);
}

Failure stopped_idle(const Server& server) {
  return plain_failure(FailureCode::server_failed, "the server was stopped, since it was idle",
                       server.name);
}

Failure restarted_by_user(const Server& server) {
  return plain_failure(FailureCode::server_failed, "the server was restarted", server.name);
}

Failure cannot_go_on(const Server* server, const std::string& why) {
  return plain_failure(
      FailureCode::server_failed,
      "cellblock was started again, but this session cannot go on with its server: " + why,
      name_or_nothing(server));
}

Failure shutting_down(const Server* server) {
  return plain_failure(FailureCode::shutting_down, "cellblock is shutting down",
                       name_or_nothing(server));
}

}  // namespace cellblock::gateway
