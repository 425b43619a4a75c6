#include "supervisor/http_connection/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace cellblock::http {
namespace {

constexpr std::array<std::string_view, 11> deciding = {
    "host",       "origin",         "authorization",    "mcp-session-id",
    "mcp-method", "mcp-name",       "content-type",     "mcp-protocol-version",
    "expect",     "content-length", "transfer-encoding"};

constexpr std::array<std::pair<unsigned, std::string_view>, 18> reasons = {{
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Header::name);
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

bool Request::is_ambiguous() const {
  return std::ranges::any_of(deciding, [this](std::string_view name) {
    return std::ranges::count(headers, name, &Header::name) > 1;
  });
}

std::string_view reason_of(unsigned status) {
  const auto found =
      std::ranges::find(reasons, status, &std::pair<unsigned, std::string_view>::first);
  return found == reasons.end() ? "Unknown" : found->second;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

Reply error_page(unsigned status, std::string_view id, int code, std::string_view message,
                 std::string_view data) {
  const std::string text =
      nlohmann::json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string body = R"({"jsonrpc":"2.0",)";
  if (!id.empty()) body += fmt::format(R"("id":{},)", id);
  body += fmt::format(R"("error":{{"code":{},"message":{})", code, text);
  if (!data.empty()) body += fmt::format(R"(,"data":{})", data);
  body += "}}";
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

}  // namespace cellblock::http
