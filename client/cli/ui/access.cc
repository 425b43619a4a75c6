#include "client/cli/ui/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cellblock::cli::ui {
namespace {

bool is_port(std::string_view text) {
  constexpr std::size_t most_digits = 5;
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Not "localhost": a browser takes it for ::1 as well, where another user can listen on the same
// port, and whose page would then be of the same origin as this one.
bool is_own_host(std::string_view host, const PageAddress& own) {
  const std::string name = own.host + ":";
  if (!host.starts_with(name)) return false;
  const auto rest = host.substr(name.size());
  return own.port == 0 ? is_port(rest) : rest == std::to_string(own.port);
}

bool has_own_host(const HttpRequest& request, const PageAddress& own) {
  const auto host = request.header("host");
  return host && is_own_host(*host, own);
}

bool is_there(const HttpRequest& request, std::string_view name) {
  return std::ranges::any_of(request.headers,
                             [&](const auto& field) { return field.first == name; });
}

// Browsers send it with each POST, and with what another origin's script asks for.
bool has_own_origin(const HttpRequest& request) {
  if (!is_there(request, "origin")) return request.method == Method::get;
  return request.header("origin") == "http://" + request.header("host").value_or("");
}

// Not sent by browsers that do not know it.
bool has_own_site(const HttpRequest& request) {
  return !is_there(request, "sec-fetch-site") || request.header("sec-fetch-site") == "same-origin";
}

// The files of the page say nothing about anybody: a link may lead there.
bool is_of_page(const HttpRequest& request) {
  return request.method == Method::get && !request.path.starts_with("/api/");
}

}  // namespace

HttpReply refusal(unsigned status, std::string_view why) {
  return {.status = status, .body = nlohmann::json{{"refused", why}}.dump()};
}

std::optional<HttpReply> refuse_stranger(const HttpRequest& request, const PageAddress& own) {
  if (request.method == Method::other) return refusal(405, "only GET and POST are answered");
  if (!has_own_host(request, own)) {
    return refusal(403, "the Host header names another server: open the address as it was printed");
  }
  if (is_of_page(request)) return std::nullopt;
  if (has_own_origin(request) && has_own_site(request)) return std::nullopt;
  return refusal(403, "the request comes from another page");
}

}  // namespace cellblock::cli::ui
