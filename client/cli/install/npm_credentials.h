#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"

/// What a user's `.npmrc` says of registries: whose packages come from where, and with which token.
/// Pure.
namespace cellblock::cli {

struct NpmrcEntry {
  std::string key;  ///< "//registry.example.org/:_authToken", "@scope:registry"
  std::string value;
};

/// The value of a variable of the environment; empty: it is not there.
using LookUpVariable = std::function<std::string(const std::string& name)>;

/// The lines of that file, without quotes and with `${NAME}` filled in. One that is not there stays
/// as it is written. Other lines than `KEY = VALUE` are left out.
std::vector<NpmrcEntry> read_npmrc(std::string_view text, const LookUpVariable& look_up);

/// The registries of all scopes: lines of an `.npmrc`. One whose address has a password is left
/// out.
std::string scope_lines(const std::vector<NpmrcEntry>& entries);

/// The token, or the user and password, for that registry and for no other: lines of an `.npmrc`;
/// empty: there is none. An error: it names a variable that is not there, or is no token. It never
/// repeats the token.
Result<std::string> credential_lines(const std::vector<NpmrcEntry>& entries,
                                     const std::string& registry);

}  // namespace cellblock::cli
