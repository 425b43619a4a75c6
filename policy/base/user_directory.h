#pragma once

#include <string>

/// A user's files by the XDG Base Directory Specification: one rule for the daemon and the command.
namespace cellblock {

struct UserDirectory {
  const char* variable;
  const char* below_home;  ///< where the variable does not say
};

inline constexpr UserDirectory configuration_home{"XDG_CONFIG_HOME", "/.config"};
inline constexpr UserDirectory data_home{"XDG_DATA_HOME", "/.local/share"};
inline constexpr UserDirectory state_home{"XDG_STATE_HOME", "/.local/state"};

/// What is known of the user, asked for when it is needed.
struct UserEnvironment {
  std::string (*variable)(const char* name);  ///< of the environment; empty: not set
  std::string (*account_home)();              ///< as the user database has it; empty: nothing
};

/// A relative path counts as none, as the specification says.
std::string absolute_or_none(std::string path);

/// $HOME, or else the account's; empty: there is none.
std::string user_home(const UserEnvironment& of);

/// The directory that the variable names, or else the one below the home; empty: there is none.
std::string user_directory(const UserDirectory& which, const UserEnvironment& of);

}  // namespace cellblock
