#include "policy/config_check/secret_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/base/printable.h"
#include "policy/config/config.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_quoted_name = 64;

using SecretTexts = std::vector<SecretText>;

std::size_t index_of(const SecretTexts& secrets, std::string_view name) {
  const auto found = std::ranges::find(
      secrets, name, [](const SecretText& secret) { return std::string_view(secret.name.value); });
  return static_cast<std::size_t>(found - secrets.begin());
}

std::unexpected<Error> not_a_path(std::string_view name, const ServerText& server) {
  const bool is_variable = index_of(server.env_from_file, name) < server.env_from_file.size();
  return fail(fmt::format(
      "\"{}{}}}\" {}; allowed: a name under secret_files or secret_memfds of this server, or "
      "\"${}\" "
      "for the characters themselves",
      secret_placeholder, printable(name.substr(0, longest_quoted_name)),
      is_variable ? "is given as a variable, by env_from_file, and has no path: declare it under "
                    "secret_files instead"
                  : "names no secret of this server",
      secret_placeholder));
}

Result<std::string> path_of_secret(std::string_view name, const ServerText& server) {
  if (index_of(server.secret_files, name) < server.secret_files.size()) {
    return fmt::format("{}/{}", secrets_directory, name);
  }
  const std::size_t memfd = index_of(server.secret_memfds, name);
  if (memfd == server.secret_memfds.size()) return not_a_path(name, server);
  return fmt::format("/proc/self/fd/{}", first_secret_descriptor + memfd);
}

std::string_view escaped_in(std::string_view rest, Escape escape) {
  constexpr std::string_view any = "$${";
  constexpr std::string_view of_secret = "$${secret:";
  const std::string_view escaped = escape == Escape::kept ? any : of_secret;
  return rest.starts_with(escaped) ? rest.substr(0, escaped.size()) : std::string_view();
}

}  // namespace

Result<std::string> with_secret_paths(std::string_view text, const ServerText& server,
                                      Escape escape) {
  std::string filled;
  while (!text.empty()) {
    std::string_view piece = escaped_in(text, escape);
    if (!piece.empty()) {
      filled += piece.substr(escape == Escape::removed ? 1 : 0);
    } else if (text.starts_with(secret_placeholder)) {
      piece = text.substr(0, text.find('}'));
      const std::string_view name = piece.substr(secret_placeholder.size());
      if (piece.size() == text.size()) return fail(fmt::format("\"{}\" lacks its \"}}\"", piece));
      filled += CELLBLOCK_TRY(path_of_secret(name, server));
      piece = text.substr(0, piece.size() + 1);
    } else {
      piece = text.substr(0, 1);
      filled += piece;
    }
    text.remove_prefix(piece.size());
  }
  return filled;
}

}  // namespace cellblock
