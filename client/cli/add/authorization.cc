#include "client/cli/add/authorization.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t most_bytes = 48U << 10;
constexpr std::string_view tokens_suffix = "_tokens.json";
constexpr std::string_view client_suffix = "_client_info.json";

bool is_one_line(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char byte) { return byte < ' '; });
}

Result<Ordered> tokens_in(const NamedTexts& files) {
  const auto found = std::ranges::find_if(
      files, [](const auto& file) { return file.first.ends_with(tokens_suffix); });
  if (found == files.end()) return fail("no token was obtained");
  return json_of_json(found->second);
}

// mcp-remote writes milliseconds.
std::int64_t expiry_of(const Ordered& tokens) {
  constexpr std::int64_t thousand = 1000;
  const auto found = tokens.find("expires_at");
  return found != tokens.end() && found->is_number()
             ? static_cast<std::int64_t>(found->get<double>()) / thousand
             : 0;
}

std::string time_text(std::int64_t time) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::int64_t number_before_dash(const std::string& id) {
  std::int64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  return number;
}

}  // namespace

Result<std::string> authorization_text(const NamedTexts& files, std::int64_t now,
                                       const std::string& random) {
  const auto tokens = CELLBLOCK_TRY(tokens_in(files));
  const auto access = CELLBLOCK_TRY(text_member(tokens, "access_token"));
  const auto refresh = CELLBLOCK_TRY(text_member(tokens, "refresh_token"));
  if (access.empty() || !is_one_line(access) || !is_one_line(refresh)) {
    return fail("what was obtained holds no token");
  }
  Ordered all = Ordered::object();
  for (const auto& [name, content] : files) all[name] = content;
  auto text = fmt::format("{}-{}\n{}\n{}\n{}", now, random, access, refresh,
                          all.dump(-1, ' ', true, Ordered::error_handler_t::replace));
  if (text.size() > most_bytes) return fail("what was obtained is longer than 48 KiB");
  return text;
}

Result<Authorization> read_authorization(const std::string& text) {
  std::istringstream lines(text);
  std::string id;
  std::string access;
  std::string refresh;
  std::string json;
  std::getline(lines, id);
  std::getline(lines, access);
  std::getline(lines, refresh);
  std::getline(lines, json);
  const auto files = CELLBLOCK_TRY(json_of_json(json));
  NamedTexts named;
  for (const auto& variable : CELLBLOCK_TRY(variables_member(Ordered{{"files", files}}, "files"))) {
    named.emplace_back(variable.name, variable.value);
  }
  const auto tokens = CELLBLOCK_TRY(tokens_in(named));
  Authorization authorization{.obtained = number_before_dash(id),
                              .expires = expiry_of(tokens),
                              .is_renewed = !refresh.empty()};
  authorization.scope = CELLBLOCK_TRY(text_member(tokens, "scope"));
  if (authorization.scope.empty()) {
    authorization.scope = CELLBLOCK_TRY(text_member(tokens, "requested_scope"));
  }
  return authorization;
}

std::string described(const Authorization& authorization) {
  auto text = "authorized " + time_text(authorization.obtained);
  if (!authorization.scope.empty()) text += "; scopes: " + safe_line(authorization.scope);
  if (authorization.expires != 0) {
    text += "; its first token was good until " + time_text(authorization.expires);
  }
  return text + (authorization.is_renewed ? "; renewed in its cell" : "; cannot be renewed");
}

bool is_of_authorization(const std::string& path) {
  const auto slash = path.find('/');
  const bool is_placed = path.starts_with("mcp-remote-") && slash != std::string::npos &&
                         path.find('/', slash + 1) == std::string::npos;
  return is_placed && (path.ends_with(tokens_suffix) || path.ends_with(client_suffix));
}

}  // namespace cellblock::cli
