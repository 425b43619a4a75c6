#include "policy/base/user_directory.h"

#include <utility>

namespace cellblock {

std::string absolute_or_none(std::string path) {
  return path.starts_with('/') ? std::move(path) : std::string();
}

std::string user_home(const UserEnvironment& of) {
  auto home = absolute_or_none(of.variable("HOME"));
  return home.empty() ? absolute_or_none(of.account_home()) : home;
}

std::string user_directory(const UserDirectory& which, const UserEnvironment& of) {
  auto named = absolute_or_none(of.variable(which.variable));
  if (!named.empty()) return named;
  const auto home = user_home(of);
  return home.empty() ? home : home + which.below_home;
}

}  // namespace cellblock
