#include "client/cli/programs/own_directory.h"

#include <pwd.h>
#include <unistd.h>

#include "client/cli/programs/program_start.h"

namespace cellblock::cli {
namespace {

std::string home_in_database() {
  const auto* account = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): one thread asks
  return account == nullptr || account->pw_dir == nullptr ? std::string() : account->pw_dir;
}

}  // namespace

std::string own_directory(const UserDirectory& which) {
  return user_directory(which,
                        {.variable = environment_variable, .account_home = home_in_database});
}

}  // namespace cellblock::cli
