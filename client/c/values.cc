#include <new>
#include <string_view>

#include "client/c/handles.h"

/// Errors, results and lists of the C interface: what can be asked without a connection.

namespace cellblock::client {

cellblock_code code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return CELLBLOCK_INVALID_ARGUMENT;
    case ErrorCode::unreachable:
      return CELLBLOCK_UNREACHABLE;
    case ErrorCode::no_access:
      return CELLBLOCK_NO_ACCESS;
    case ErrorCode::untrusted_listener:
      return CELLBLOCK_UNTRUSTED_LISTENER;
    case ErrorCode::disconnected:
      return CELLBLOCK_DISCONNECTED;
    case ErrorCode::protocol:
      return CELLBLOCK_PROTOCOL;
    case ErrorCode::too_large:
      return CELLBLOCK_TOO_LARGE;
    case ErrorCode::too_many:
      return CELLBLOCK_TOO_MANY;
    case ErrorCode::timed_out:
      return CELLBLOCK_TIMED_OUT;
    case ErrorCode::cancelled:
      return CELLBLOCK_CANCELLED;
    case ErrorCode::denied_by_host:
      return CELLBLOCK_DENIED_BY_HOST;
    case ErrorCode::refused:
      return CELLBLOCK_REFUSED;
    case ErrorCode::approval_required:
      return CELLBLOCK_APPROVAL_REQUIRED;
    case ErrorCode::server_failed:
      return CELLBLOCK_SERVER_FAILED;
    case ErrorCode::handshake_timeout:
      return CELLBLOCK_HANDSHAKE_TIMEOUT;
    case ErrorCode::unavailable:
      return CELLBLOCK_UNAVAILABLE;
    case ErrorCode::rpc:
      return CELLBLOCK_RPC;
    case ErrorCode::handler_failed:
      return CELLBLOCK_HANDLER_FAILED;
    case ErrorCode::in_use:
      return CELLBLOCK_IN_USE;
    case ErrorCode::other_process:
      return CELLBLOCK_OTHER_PROCESS;
  }
  return CELLBLOCK_INTERNAL;
}

std::optional<Verdict> verdict_of(cellblock_verdict verdict) {
  switch (static_cast<int>(verdict)) {
    case CELLBLOCK_ALLOW:
      return Verdict::allow;
    case CELLBLOCK_ASK:
      return Verdict::ask;
    case CELLBLOCK_DENY:
      return Verdict::deny;
    default:
      return std::nullopt;
  }
}

std::optional<CallKind> kind_of(cellblock_kind kind) {
  switch (static_cast<int>(kind)) {
    case CELLBLOCK_TOOL:
      return CallKind::tool;
    case CELLBLOCK_RESOURCE:
      return CallKind::resource;
    case CELLBLOCK_PROMPT:
      return CallKind::prompt;
    case CELLBLOCK_OTHER:
      return CallKind::other;
    default:
      return std::nullopt;
  }
}

Error bad_argument(std::string text) {
  return {.code = ErrorCode::invalid_argument, .text = std::move(text)};
}

cellblock_code refuse(cellblock_error** error, cellblock_code code, Error why) noexcept {
  if (error != nullptr) *error = new (std::nothrow) cellblock_error{code, std::move(why)};
  return code;
}

namespace {

const char* counted(const std::string& text, size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.c_str();
}

const WithheldPart* part_at(const cellblock_result* result, size_t index) {
  return result == nullptr || index >= result->parts.size() ? nullptr : &result->parts[index];
}

const Tool* tool_at(const cellblock_tools* tools, size_t index) {
  return tools == nullptr || index >= tools->tools.size() ? nullptr : &tools->tools[index];
}

}  // namespace
}  // namespace cellblock::client

using cellblock::client::counted;
using cellblock::client::part_at;
using cellblock::client::tool_at;

extern "C" {

const char* cellblock_code_name(cellblock_code code) {
  static constexpr const char* names[] = {"ok",
                                          "invalid_argument",
                                          "unreachable",
                                          "no_access",
                                          "untrusted_listener",
                                          "disconnected",
                                          "protocol",
                                          "too_large",
                                          "too_many",
                                          "timed_out",
                                          "cancelled",
                                          "denied_by_host",
                                          "refused",
                                          "approval_required",
                                          "server_failed",
                                          "handshake_timeout",
                                          "unavailable",
                                          "rpc",
                                          "no_memory",
                                          "internal",
                                          "handler_failed",
                                          "in_use",
                                          "other_process"};
  const auto number = static_cast<unsigned>(code);
  return number < std::size(names) ? names[number] : "unknown";
}

const char* cellblock_version(void) { return CELLBLOCK_VERSION; }

cellblock_code cellblock_error_code(const cellblock_error* error) {
  return error == nullptr ? CELLBLOCK_OK : error->code;
}
const char* cellblock_error_text(const cellblock_error* error) {
  return error == nullptr ? "" : error->error.text.c_str();
}
const char* cellblock_error_advice(const cellblock_error* error) {
  return error == nullptr ? "" : error->error.advice.c_str();
}
const char* cellblock_error_failure(const cellblock_error* error) {
  return error == nullptr ? "" : error->error.failure.c_str();
}
int cellblock_error_rpc_code(const cellblock_error* error) {
  return error == nullptr ? 0 : error->error.rpc_code;
}
const char* cellblock_error_data(const cellblock_error* error) {
  return error == nullptr ? "" : error->error.data.c_str();
}
void cellblock_error_free(cellblock_error* error) { delete error; }

const char* cellblock_call_server(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.server.c_str();
}
cellblock_kind cellblock_call_kind(const cellblock_call* call) {
  return call == nullptr ? CELLBLOCK_OTHER : static_cast<cellblock_kind>(call->call.kind);
}
const char* cellblock_call_method(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.method.c_str();
}
const char* cellblock_call_name(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.name.c_str();
}
const char* cellblock_call_arguments(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.arguments.c_str();
}
const char* cellblock_call_params(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.params.c_str();
}
const char* cellblock_call_reason(const cellblock_call* call) {
  return call == nullptr ? "" : call->call.reason.c_str();
}

const char* cellblock_result_json(const cellblock_result* result, size_t* size) {
  static const std::string none;
  return counted(result == nullptr ? none : result->json, size);
}
const char* cellblock_result_text(const cellblock_result* result, size_t* size) {
  static const std::string none;
  return counted(result == nullptr ? none : result->text, size);
}
int cellblock_result_is_error(const cellblock_result* result) {
  return result != nullptr && result->is_error ? 1 : 0;
}
int cellblock_result_is_bounded(const cellblock_result* result) {
  return result != nullptr && result->is_bounded ? 1 : 0;
}
size_t cellblock_result_tokens(const cellblock_result* result) {
  return result == nullptr ? 0 : cellblock::client::token_estimate(result->text.size());
}
size_t cellblock_result_parts(const cellblock_result* result) {
  return result == nullptr ? 0 : result->parts.size();
}
const char* cellblock_result_part(const cellblock_result* result, size_t index, size_t* size) {
  const auto* const part = part_at(result, index);
  return part == nullptr ? nullptr : counted(part->text, size);
}
uint64_t cellblock_result_part_bytes(const cellblock_result* result, size_t index) {
  const auto* const part = part_at(result, index);
  return part == nullptr ? 0 : part->bytes;
}
void cellblock_result_free(cellblock_result* result) { delete result; }

const char* cellblock_page(const char* text, size_t size, size_t offset, size_t limit,
                           size_t* length) {
  const auto whole = text == nullptr ? std::string_view() : std::string_view(text, size);
  const auto page = cellblock::client::page_of(whole, offset, limit);
  if (length != nullptr) *length = page.size();
  return page.data();
}

size_t cellblock_tools_count(const cellblock_tools* tools) {
  return tools == nullptr ? 0 : tools->tools.size();
}
const char* cellblock_tools_name(const cellblock_tools* tools, size_t index) {
  const auto* const tool = tool_at(tools, index);
  return tool == nullptr ? nullptr : tool->name.c_str();
}
const char* cellblock_tools_description(const cellblock_tools* tools, size_t index) {
  const auto* const tool = tool_at(tools, index);
  return tool == nullptr ? nullptr : tool->description.c_str();
}
const char* cellblock_tools_json(const cellblock_tools* tools, size_t index) {
  const auto* const tool = tool_at(tools, index);
  return tool == nullptr ? nullptr : tool->json.c_str();
}
void cellblock_tools_free(cellblock_tools* tools) { delete tools; }

}  // extern "C"
