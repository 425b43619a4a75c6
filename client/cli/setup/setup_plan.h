#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What `cellblock setup` does next, decided from what it found. Pure.
namespace cellblock::cli {

/// Whether cells run here, by the exit code of `cellblock doctor`. That no daemon serves them yet
/// is what comes next.
bool machine_has_cells(int doctor_exit);

struct ServiceFacts {
  bool serves = false;       ///< a daemon answers at the user's socket
  bool has_manager = false;  ///< systemd runs services of this user
  bool has_unit = false;     ///< and knows cellblock.socket
};

enum class ServiceStep : std::uint8_t {
  nothing,    ///< it runs
  enable,     ///< by the service manager
  no_unit,    ///< by hand: the manager does not know cellblock
  no_manager  ///< by hand
};

ServiceStep service_step(const ServiceFacts& facts);

/// How a daemon is started by hand, and why so, in one sentence; empty where it is not.
std::string service_advice(ServiceStep step);

/// A host's file with servers that cellblock does not start yet.
struct HostServers {
  std::string host;
  std::string file;
  std::vector<std::string> names;  ///< that cellblock lacks; untrusted
  /// Servers that cellblock has under the same name with another line than the host's.
  std::vector<std::string> present = {};
};

/// The host's `names`, told apart by whether a server of `declared` has the name that each would
/// get.
HostServers told_apart(HostServers servers, const std::vector<std::string>& declared);

/// "Claude Code, /home/alice/.claude.json: files, notes".
std::string host_line(const HostServers& servers);

/// "Cursor, /h/mcp.json: cellblock has files already, ...": told, without a question.
std::string present_line(const HostServers& servers);

/// The words behind `cellblock` that add those of one file.
std::vector<std::string> import_words(const std::string& file, bool agrees);
/// Options that change the files of all hosts.
std::vector<std::string> connect_words(bool agrees);

}  // namespace cellblock::cli
