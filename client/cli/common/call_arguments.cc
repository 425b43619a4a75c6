#include "client/cli/common/call_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<client::Error> wrong(std::string text) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::invalid_argument, .text = std::move(text)});
}

bool is_json(const std::string& word) {
  const auto begin = word.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && (word[begin] == '{' || word[begin] == '[');
}

Json value_of(const std::string& text) {
  auto json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

// The gateway refuses such a message whole; here it is known whose mistake it is.
bool has_a_key_twice(const std::string& json) {
  std::string line =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":)" + json +
      "}}";
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  const std::size_t size = line.size();
  line.append(MessageScanner::padding, '\0');
  const auto message = MessageScanner().scan(std::string_view(line).substr(0, size));
  return !message && message.error().fault == MessageFault::duplicate_key;
}

}  // namespace

client::Result<std::string> call_arguments(const std::string& json,
                                           const std::vector<std::string>& pairs) {
  if (!json.empty() && has_a_key_twice(json)) {
    return wrong(
        "an object in the arguments has the same key twice: a server could take the other "
        "one than cellblock judges");
  }
  // Untouched where there is nothing to add: the server gets what was typed.
  if (pairs.empty()) return json.empty() ? "{}" : json;
  auto object = json.empty() ? Json::object() : Json::parse(json, nullptr, false);
  if (!object.is_object()) return wrong("the arguments of a tool are a JSON object");
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong(fmt::format("{}: expected name=value", pair));
    }
    object[pair.substr(0, equals)] = value_of(pair.substr(equals + 1));
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

client::Result<std::string> call_arguments(const std::vector<std::string>& words) {
  auto pairs = without_arg_flags(words);
  std::string json;
  if (const auto found = std::ranges::find_if(pairs, is_json); found != pairs.end()) {
    json = std::move(*found);
    pairs.erase(found);
  }
  return call_arguments(json, pairs);
}

std::vector<std::string> without_arg_flags(const std::vector<std::string>& words) {
  constexpr std::string_view flag = "--arg";
  std::vector<std::string> kept;
  for (const auto& word : words) {
    if (word == flag) continue;
    const bool joined = word.starts_with("--arg=");
    kept.push_back(joined ? word.substr(flag.size() + 1) : word);
  }
  return kept;
}

}  // namespace cellblock::cli
