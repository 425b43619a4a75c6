#include "client/cli/programs/configuration.h"

#include <unistd.h>

#include "client/cli/programs/own_directory.h"
#include "client/cli/programs/program_start.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

constexpr const char* system_path = "/etc/cellblock/cellblock.toml";

std::string own_path() { return own_directory(configuration_home) + "/cellblock/cellblock.toml"; }

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Mode mode_of(const Context& context, const std::string& named) {
  if (context.mode != Mode::either) return context.mode;
  if (::geteuid() == 0) return Mode::system;
  const auto own_socket = client::user_socket_path();
  if (!own_socket.empty() && context.daemon == own_socket) return Mode::user;
  const bool has_own = exists(named.empty() ? own_path() : named);
  return has_own && !exists(system_path) ? Mode::user : Mode::system;
}

}  // namespace

Configuration configuration_of(const Context& context) {
  const auto named = environment_variable("CELLBLOCK_CONFIG");
  const Mode mode = mode_of(context, named);
  if (!named.empty()) return {.mode = mode, .path = named, .by = FoundBy::variable};
  return {.mode = mode, .path = mode == Mode::user ? own_path() : system_path};
}

std::string user_data_directory() { return own_directory(data_home) + "/cellblock"; }

}  // namespace cellblock::cli
