#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "policy/base/result.h"

/// What its user has allowed the cell of a remote server: files of mcp-remote, as the value of a
/// secret. The cell takes them over once and renews them in its home. Pure.
namespace cellblock::cli {

/// The variable of the secret.
inline constexpr const char* authorization_variable = "REMOTE_AUTHORIZATION";

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct Authorization {
  std::int64_t obtained = 0;  ///< Unix time, in seconds
  std::int64_t expires = 0;   ///< of the access token as it was obtained; 0: it does not say
  std::string scope;
  bool is_renewed = false;  ///< there is a refresh token
};

/// The text of the secret: an id that no other secret has, the tokens on lines of their own so that
/// redaction recognises them, and the files. `files`: by their path below mcp-remote's directory.
/// An error: they hold no tokens, or more than 48 KiB.
Result<std::string> authorization_text(const NamedTexts& files, std::int64_t now,
                                       const std::string& random);

Result<Authorization> read_authorization(const std::string& text);

/// "authorized 2026-11-27 12:30 UTC, scopes: read write, ...", untrusted parts made harmless.
std::string described(const Authorization& authorization);

/// Whether it is a file that an authorization consists of: "mcp-remote-v1/HASH_tokens.json".
bool is_of_authorization(const std::string& path);

}  // namespace cellblock::cli
