#include "supervisor/gateway/message/replies.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

namespace {

using Json = nlohmann::ordered_json;

std::string id_member(std::string_view id) {
  return id.empty() ? std::string{} : fmt::format(R"("id":{},)", id);
}

}  // namespace

std::string protocol_error(std::string_view id, int code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0",{}"error":{{"code":{},"message":{}}}}})", id_member(id),
                     code, dump_json(Json(message)));
}

std::string result_reply(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string attached_reply(std::string_view id, const AttachedReply& reply) {
  Json result = Json::object();
  if (!reply.server.empty()) result["server"] = reply.server;
  result["session"] = std::to_string(reply.session);
  if (reply.cell != 0) result["cell"] = std::to_string(reply.cell);
  if (reply.stdio) result["stdio"] = *reply.stdio;
  if (reply.journal) result["journal"] = *reply.journal;
  if (reply.workspace) result["workspace"] = *reply.workspace;
  if (reply.probe) result["probe"] = *reply.probe;
  if (!reply.role.empty()) result["role"] = reply.role;
  return result_reply(id, dump_json(result));
}

std::string cancelled_notification(std::uint64_t id, std::string_view reason) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"requestId":{},"reason":{}}}}})",
                     mcp::notification::cancelled, id, dump_json(Json(reason)));
}

std::string waiting_notification(std::string_view token, std::uint32_t step,
                                 std::string_view message) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"{}","params":{{"progressToken":{},"progress":{:.6f},"message":{}}}}})",
      mcp::notification::progress, token, step * 1e-6, dump_json(Json(message)));
}

std::string ended_notification(std::string_view reason, const Failure* failure) {
  const std::string what =
      failure == nullptr ? std::string{}
                         : fmt::format(R"(,"failure":{},"message":{})", failure_data(*failure),
                                       dump_json(Json(failure->message)));
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"reason":{}{}}}}})",
                     control_method::ended, dump_json(Json(reason)), what);
}

std::string resumable_notification(std::string_view reason, std::string_view resume) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"reason":{},"resume":{}}}}})",
                     control_method::ended, dump_json(Json(reason)), resume);
}

}  // namespace cellblock::gateway
