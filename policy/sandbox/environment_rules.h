#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Which environment variables a server may be given.
namespace cellblock {

// Placeholders in `env`: `${client.user}` and `${client.uid}` are the user who connected, as the
// kernel says. `$${` stands for `${`; every other `$` stands for itself. (`${secret:NAME}` is a
// path that the check fills in: config_check/secret_path.h.)

inline constexpr std::size_t max_user_name = 255;

/// The number in NAME_FD of the first secret memfd, the next one after stderr; the others follow.
inline constexpr int first_secret_descriptor = 3;

/// The user that a cell works for.
struct ClientNames {
  std::uint32_t uid = 0;
  std::string user;  ///< empty: the uid has no name here, or none that is_user_name()
};

/// 1 to max_user_name bytes of UTF-8 without white space and control characters.
bool is_user_name(std::string_view name);

/// What follows "${" and is no placeholder of ours; nullopt: nothing is wrong.
std::optional<std::string> unknown_placeholder(std::string_view text);

/// Whether it can be filled in only for a client who has a name.
bool needs_user_name(std::string_view text);

/// Only for what has no unknown placeholder.
std::string fill_in(std::string_view text, const ClientNames& client);

/// [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes.
bool is_variable_name(std::string_view name);

/// Why a variable of this name is never set from the configuration; none: it may be. PATH, LANG and
/// TZ may be: they override the cell's own.
std::optional<std::string> variable_problem(std::string_view name);

}  // namespace cellblock
