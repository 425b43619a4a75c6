#include "supervisor/gateway/cell/cell_failure.h"

#include <csignal>

#include "supervisor/gateway/message/failures.h"

namespace cellblock::gateway {

EndedCell with_true_cause(EndedCell ended) {
  const CellFacts& facts = ended.facts;
  const bool by_kill = facts.kind == EndKind::signalled && facts.signal == SIGKILL;
  const bool by_itself = facts.kind != EndKind::not_ended && !by_kill;
  const bool only_a_sign =
      ended.given_up == GivenUp::closed_stdout || ended.given_up == GivenUp::closed_stdin;
  if (only_a_sign && by_itself) ended.given_up = GivenUp::no;
  return ended;
}

Failure failure_of_end(const std::string& server, const EndedCell& ended) {
  const CrashVerdict verdict = judge_end(ended);
  const bool late = verdict.verdict == Verdict::handshake_timeout;
  Failure failure =
      plain_failure(late ? FailureCode::handshake_timeout : FailureCode::server_failed,
                    describe(server, verdict), server);
  failure.verdict = name_of(verdict.verdict);
  failure.cause = verdict.cause;
  failure.advice = verdict.advice;
  failure.facts = ended.facts;
  failure.stderr_tail = shown_lines(ended.stderr_tail);
  return failure;
}

Failure failure_of_refusal(const std::string& server, wire::StartRefusal refusal,
                           const EndedCell& ended) {
  switch (refusal) {
    case wire::StartRefusal::too_many_cells:
      return plain_failure(FailureCode::too_many,
                           "this user has as many cells of this server as are allowed", server);
    case wire::StartRefusal::too_many_cells_in_all:
      return plain_failure(FailureCode::too_many,
                           "this user, or all users together, have as many cells as cellblock runs",
                           server);
    case wire::StartRefusal::no_free_identity:
      return plain_failure(FailureCode::too_many,
                           "every id that daemon.id_range has for servers is given, one to each "
                           "server and user for good: make the range larger",
                           server);
    case wire::StartRefusal::disabled:
      return plain_failure(FailureCode::disabled, "cellblock is switched off");
    case wire::StartRefusal::not_permitted:
      return plain_failure(FailureCode::not_allowlisted,
                           "server \"" + server + "\" is not this user's to use any more", server);
    case wire::StartRefusal::workspace_refused:
      return plain_failure(FailureCode::workspace_refused,
                           "the workspace is not a directory that workspace.allow of server \"" +
                               server + "\" names",
                           server);
    case wire::StartRefusal::workspace_came_later:
      return plain_failure(FailureCode::workspace_refused,
                           "workspace.allow of server \"" + server +
                               "\" names this directory, but it was not there when cellblockd "
                               "started: restart cellblockd",
                           server);
    case wire::StartRefusal::identity_not_mapped:
      return plain_failure(
          FailureCode::identity_not_mapped,
          "server \"" + server +
              "\" runs as its client (run_as), and this user cannot be one: it needs an account, "
              "named by allow.users or a member of allow.groups that can be listed when cellblockd "
              "starts; root, the system's accounts and cellblock's own ids are none",
          server);
    case wire::StartRefusal::client_without_name:
      return plain_failure(FailureCode::identity_not_mapped,
                           "env of server \"" + server +
                               "\" has ${client.user}, and the account database has no name for "
                               "this user that can be passed on",
                           server);
    case wire::StartRefusal::home_in_use:
      return plain_failure(FailureCode::too_many,
                           "the home of server \"" + server + "\" is just being cleared", server);
    case wire::StartRefusal::none:
    case wire::StartRefusal::setup_failed:
      break;
  }
  return failure_of_end(server, ended);
}

}  // namespace cellblock::gateway
