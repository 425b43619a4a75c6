#include "client/connection/rpc_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "policy/json/json_text.h"

namespace cellblock::client {
namespace {

constexpr std::string_view white_space = " \t\r\n";

std::unexpected<Error> unusable(std::string text) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = std::move(text)});
}

}  // namespace

std::string_view raw_member(std::string_view object, std::string_view key) {
  const auto members = raw_members(object);
  const auto* const found = members ? find_member(*members, key) : nullptr;
  return found == nullptr ? std::string_view() : found->value;
}

std::string with_first_member(std::string_view text, std::size_t brace, std::string_view member) {
  const auto next = text.find_first_not_of(white_space, brace + 1);
  const auto* const comma = text.substr(next).starts_with('}') ? "" : ",";
  return fmt::format("{}{}{}{}", text.substr(0, brace + 1), member, comma, text.substr(brace + 1));
}

std::string member_text(const std::vector<RawMember>& members, std::string_view key) {
  const auto* const found = find_member(members, key);
  return found != nullptr && is_raw_string(found->value) ? decoded(found->value) : std::string();
}

Result<std::string> with_progress_token(std::string_view object, std::uint64_t token) {
  const auto brace = object.find_first_not_of(white_space);
  if (brace == std::string_view::npos || object[brace] != '{') return unusable("not a JSON object");
  const auto member = fmt::format(R"("progressToken":{})", token);
  const auto meta = raw_member(object, "_meta");
  if (meta.empty()) return with_first_member(object, brace, R"("_meta":{)" + member + "}");
  if (!meta.starts_with('{')) return unusable("_meta is a JSON object");
  if (!raw_member(meta, "progressToken").empty()) {
    return unusable("_meta.progressToken is the library's own where progress is wanted");
  }
  return with_first_member(object, static_cast<std::size_t>(meta.data() - object.data()), member);
}

namespace {

using Json = nlohmann::ordered_json;

// The table of docs/errors.md.
struct KnownFailure {
  int rpc_code;
  std::string_view name;
  ErrorCode code;
};
constexpr std::array known_failures = {
    KnownFailure{-31001, "not_allowlisted", ErrorCode::refused},
    KnownFailure{-31002, "not_attached", ErrorCode::refused},
    KnownFailure{-31003, "server_failed", ErrorCode::server_failed},
    KnownFailure{-31004, "handshake_timeout", ErrorCode::handshake_timeout},
    KnownFailure{-31005, "too_large", ErrorCode::too_large},
    KnownFailure{-31006, "too_many", ErrorCode::too_many},
    KnownFailure{-31007, "audit_unavailable", ErrorCode::unavailable},
    KnownFailure{-31008, "disabled", ErrorCode::refused},
    KnownFailure{-31009, "invalid_request", ErrorCode::refused},
    KnownFailure{-31010, "shutting_down", ErrorCode::unavailable},
    KnownFailure{-31011, "bad_answer", ErrorCode::server_failed},
    KnownFailure{-31012, "workspace_refused", ErrorCode::refused},
    KnownFailure{-31013, "identity_not_mapped", ErrorCode::refused},
    KnownFailure{-31014, "denied", ErrorCode::refused},
    KnownFailure{-31015, "approval_required", ErrorCode::approval_required},
    KnownFailure{-31016, "invalid_arguments", ErrorCode::refused},
    KnownFailure{-31017, "timeout", ErrorCode::timed_out},
    KnownFailure{-31018, "rate_limited", ErrorCode::too_many},
    KnownFailure{-31019, "quarantined", ErrorCode::refused},
    KnownFailure{-31020, "blocked", ErrorCode::refused},
};

ErrorCode code_of_rpc(int rpc_code) {
  const auto* found = std::ranges::find(known_failures, rpc_code, &KnownFailure::rpc_code);
  return found == known_failures.end() ? ErrorCode::rpc : found->code;
}

std::string_view name_of_rpc(int rpc_code) {
  const auto* found = std::ranges::find(known_failures, rpc_code, &KnownFailure::rpc_code);
  return found == known_failures.end() ? std::string_view() : found->name;
}

std::string member(std::string_view name, std::string_view raw) {
  return raw.empty() ? std::string() : fmt::format(R"(,"{}":{})", name, raw);
}

}  // namespace

ErrorCode code_of_failure(std::string_view name) {
  const auto* found = std::ranges::find(known_failures, name, &KnownFailure::name);
  return found == known_failures.end() ? ErrorCode::server_failed : found->code;
}

bool is_json_object(std::string_view json) {
  return Json::accept(json) && json[json.find_first_not_of(" \t\r\n")] == '{';
}

Result<std::string> one_line_object(std::string_view json) {
  if (!is_json_object(json)) {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = "not a JSON object"});
  }
  // Inside strings JSON allows no raw newline, so each one here is white space.
  std::string line(json);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string request_line(std::string_view id, std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0"{},"method":{}{}}})", member("id", id),
                     json_string(method), member("params", params)) +
         '\n';
}

std::string result_line(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0"{}{}}})", member("id", id), member("result", result)) +
         '\n';
}

std::string error_line(std::string_view id, int code, std::string_view message,
                       std::string_view data) {
  return fmt::format(R"({{"jsonrpc":"2.0"{},"error":{{"code":{},"message":{}{}}}}})",
                     member("id", id), code, json_string(message), member("data", data)) +
         '\n';
}

Error read_error(std::string_view error_object) {
  Error error{.code = ErrorCode::rpc, .text = "the server gave no reason"};
  const auto code = Json::parse(raw_member(error_object, "code"), nullptr, false);
  if (code.is_number_integer()) error.rpc_code = code;
  const auto message = raw_member(error_object, "message");
  if (is_raw_string(message)) error.text = decoded(message);
  error.data = raw_member(error_object, "data");
  error.code = code_of_rpc(error.rpc_code);
  error.failure = name_of_rpc(error.rpc_code);
  if (error.failure.empty()) return error;
  error.text = on_one_line(std::move(error.text));
  error.advice = decoded(raw_member(error.data, "advice"));
  return error;
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace cellblock::client
