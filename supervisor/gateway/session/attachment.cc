#include "supervisor/gateway/session/attachment.h"

#include <string>

#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

std::optional<Failure> Attachment::refusal(const Server& server) const {
  if (offer_.workspace == WorkspaceOffer::none) return std::nullopt;
  if (!server.workspace) {
    return plain_failure(FailureCode::workspace_refused,
                         "server \"" + server.name + "\" takes no workspace: [server." +
                             server.name + ".workspace] is not declared",
                         server.name);
  }
  if (has_workspace()) return std::nullopt;
  return plain_failure(FailureCode::workspace_refused,
                       "the workspace is not one open directory, sent as the last descriptor with "
                       "the first byte of the request",
                       server.name);
}

std::string_view Attachment::purpose() const {
  if (program_ == wire::CellProgram::probe) return "probe";
  return has_workspace() ? "workspace" : "";
}

std::string Attachment::answer(const Server* server, std::uint64_t session, std::uint64_t cell,
                               std::string_view role) const {
  AttachedReply reply{.session = session, .cell = cell};
  if (server != nullptr) reply.server = server->name;
  if (offer_.stdio == StdioOffer::offered) reply.stdio = taken_.stdio;
  if (taken_.journal) reply.journal = true;
  if (has_workspace()) reply.workspace = true;
  if (program_ == wire::CellProgram::probe) reply.probe = true;
  reply.role = role;
  return attached_reply(id_, reply);
}

}  // namespace cellblock::gateway
