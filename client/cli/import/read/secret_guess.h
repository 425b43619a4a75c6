#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What must not stand in a configuration that others may read. Guesses: on the safe side.
namespace cellblock::cli {

/// `${...}`, `$NAME`, `<your-token>`, `YOUR_API_KEY`, and what has not been filled in yet.
bool is_placeholder(std::string_view value);

/// API_KEY, github-token, --password: by the words that it is made of.
bool sounds_secret(std::string_view name);

/// An address that holds one: "postgresql://user:password@host/".
bool has_password(std::string_view value);

/// Has the form of a key, token or password, or holds one.
bool looks_secret(const std::string& value);

}  // namespace cellblock::cli
