#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cellblock/error.h"
#include "client/cli/common/context.h"

/// The daemon's sockets for administrators: beside its own, one for each user whose gateway runs.
namespace cellblock::cli {

struct AdminSocket {
  std::uint32_t uid = 0;  ///< of the user whose gateway is behind it
  std::string path;
};

/// `socket`: the daemon's own.
AdminSocket admin_socket_of(const std::string& socket, std::uint32_t uid);
std::string switch_path(const std::string& socket, const char* name);

/// The present sockets, by uid; none without the directory. Fails where the directory cannot be
/// read.
client::Result<std::vector<AdminSocket>> list_admin_sockets(const std::string& socket);

/// The same, with that user's gateway instead of the daemon.
Context behind(const Context& context, const AdminSocket& admin);

/// Whether it was refused because it leads to one's own gateway: an administrator looks after
/// others.
bool is_for_others(const AdminSocket& admin, const client::Error& error);

/// A name of this host's, or a number.
std::optional<std::uint32_t> uid_of(const std::string& user);
/// The name, or the number where there is none.
std::string user_name(std::uint32_t uid);

}  // namespace cellblock::cli
