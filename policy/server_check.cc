#include "policy/server_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "policy/allow_check.h"
#include "policy/command_check.h"
#include "policy/environment_check.h"
#include "policy/limits_check.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 63;
constexpr Range<std::int64_t> cells_range{1, 1024};

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

constexpr std::array networks = {Choice<NetworkMode>{"none", NetworkMode::none},
                                 Choice<NetworkMode>{"host", NetworkMode::host}};
constexpr std::array profiles = {Choice<SyscallProfile>{"native", SyscallProfile::native},
                                 Choice<SyscallProfile>{"node", SyscallProfile::node},
                                 Choice<SyscallProfile>{"python", SyscallProfile::python}};
constexpr std::array features = {
    Choice<bool ClientFeatures::*>{"roots", &ClientFeatures::roots},
    Choice<bool ClientFeatures::*>{"sampling", &ClientFeatures::sampling},
    Choice<bool ClientFeatures::*>{"elicitation", &ClientFeatures::elicitation}};

template <class Choices>
const auto* find_choice(const Scope& scope, std::string_view key, const TextAt& text,
                        const Choices& choices) {
  for (const auto& choice : choices) {
    if (choice.word == text.value) return &choice;
  }
  std::string words;
  for (const auto& choice : choices) words += fmt::format(", \"{}\"", choice.word);
  scope.error(
      text.at, key,
      fmt::format("\"{}\" is not known to this version; allowed: {}", text.value, words.substr(2)));
  return static_cast<decltype(choices.data())>(nullptr);
}

template <class T, std::size_t count>
void check_choice(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                  const std::array<Choice<T>, count>& choices, T& out) {
  if (!text) return;
  const auto* choice = find_choice(scope, key, {text->value, text->at}, choices);
  if (choice != nullptr) out = choice->value;
}

ClientFeatures check_features(const Scope& scope, const TextList& texts) {
  ClientFeatures allowed;
  for (const TextAt& text : texts) {
    const auto* choice = find_choice(scope, "client_features", text, features);
    if (choice != nullptr) allowed.*(choice->value) = true;
  }
  return allowed;
}

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_server_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && name.front() >= 'a' &&
         name.front() <= 'z' && std::ranges::all_of(name, is_name_letter);
}

Server check_server(Complaints& complaints, const ServerText& text, const Surroundings& around) {
  const Scope scope{complaints, text.file, "server." + text.name.value + "."};
  if (!is_server_name(text.name.value)) {
    complaints.error(text.file, text.name.at, "server." + text.name.value,
                     "is no server name; allowed: [a-z][a-z0-9-]{0,62}");
  }
  Server server;
  server.name = text.name.value;
  server.command = check_command(scope, text, around.facts);
  server.binds = check_binds(scope, text, around.protected_paths, around.facts);
  server.environment = check_environment(scope, text);
  server.secrets = check_secrets(scope, text, around.facts);
  check_choice(scope, "network", text.network, networks, server.network);
  check_choice(scope, "profile", text.profile, profiles, server.syscalls.base);
  server.limits = check_limits(scope, text.limits, around.facts);
  server.lines = check_lines(scope, text.lines);
  server.timeouts = check_timeouts(scope, text.start, text.stop);
  server.allow = check_allow(scope, text, around.identity, around.facts);
  server.client_features = check_features(scope, text.client_features);
  check_integer(scope, "max_cells_per_user", text.max_cells_per_user, cells_range,
                server.max_cells_per_user);
  return server;
}

}  // namespace cellblock
