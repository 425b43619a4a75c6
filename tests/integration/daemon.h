#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/integration/host.h"
#include "tests/integration/process.h"
#include "tests/integration/test_directory.h"

/// A real cellblockd with a configuration of its own.
namespace cellblock::harness {

// Numeric ids that need no entry in /etc/passwd.
inline constexpr gid_t hosts_group = 64100;
inline const User alice{
    64101, 64111, {hosts_group}};  // another gid than uid, as users have elsewhere
inline const User bob{64102, 64102, {hosts_group}};
inline constexpr uid_t daemon_uid = 64001;

enum class Mode {
  system,                  ///< started as root
  user,                    ///< rootless, no subordinate ids: servers run as the user
  user_with_subordinates,  ///< rootless, with a range in /etc/subuid and /etc/subgid
};

/// "AsRoot", for the names of tests that run in several modes.
std::string name_of_mode(const testing::TestParamInfo<Mode>& info);

struct DaemonOptions {
  Mode mode = Mode::system;
  std::string servers;       ///< [server.NAME] tables
  std::string socket_extra;  ///< more lines of [socket]
  std::string daemon_extra;  ///< more lines of [daemon]
  /// Lines of [results]: most tests look for what servers said, byte for byte.
  std::string results = "bounds = \"off\"";
  /// Files that cellblockd sees in the place of others (Process::Options).
  std::vector<std::pair<std::string, std::string>> overlays;
  std::vector<std::string> environment;  ///< more variables
  std::vector<std::string> wrapper;      ///< a command that becomes cellblockd, before it
};

class Daemon {
 public:
  /// Makes the directory; `start` needs the servers' tables, which name paths in it.
  explicit Daemon(Mode mode = Mode::system);
  /// Stops the daemon and fails the test if anything is left behind.
  ~Daemon();

  /// Fails the test (fatally for it: check with HasFatalFailure) when cellblockd does not get
  /// ready.
  void start(const DaemonOptions& options);

  /// For a cellblockd that must not get ready: what it said until it ended.
  std::string start_in_vain(const DaemonOptions& options);

  /// What `cellblockd --check` says of a configuration that is usable. Nothing is started.
  std::string check(const DaemonOptions& options);

  /// SIGTERM, and wait. The wait status, or nothing at the deadline.
  std::optional<int> stop();

  const TestDirectory& directory() const { return directory_; }
  std::string socket() const { return socket_; }
  std::string log() const;
  int pid() const { return process_->pid(); }
  Process& process() { return *process_; }
  Mode mode() const { return mode_; }

  /// The user whose sessions a test opens: alice, or rootless the daemon's own.
  User user() const;
  Host connect() const { return connect(user()); }
  Host connect(const User& user) const { return Host(socket_, user); }

  /// A `cellblock` command as that user, with the socket given by the environment.
  std::unique_ptr<Process> command(std::vector<std::string> arguments, const User& user) const;
  std::unique_ptr<Process> command(std::vector<std::string> arguments) const {
    return command(std::move(arguments), user());
  }

  /// This daemon's processes of that program ("cellblock-gateway"), by its name.
  std::vector<int> processes_named(std::string_view name) const;

  /// Waits for the end of the daemon, however it comes, and names what survived it.
  std::vector<std::string> survivors();

 private:
  std::string configuration(const DaemonOptions& options) const;
  Process::Options launch_options(const std::string& config, const DaemonOptions& options) const;
  void launch(const DaemonOptions& options);
  void install_programs() const;

  Mode mode_;
  TestDirectory directory_;
  std::vector<std::string> mounts_before_;
  std::string socket_;
  std::optional<Process> process_;
};

/// True where the tests may change their identity. Rootless tests also run without.
bool running_as_root();

/// One [server.NAME] table: `allow` everything for the daemon's user, and read access to the
/// directory of `command[0]` unless that is below /usr. `more` are further lines.
std::string server_table(const Daemon& daemon, std::string_view name,
                         const std::vector<std::string>& command, std::string_view more = "");

/// The same for a program of this build, installed into the daemon's directory.
std::string server_of_build(const Daemon& daemon, std::string_view name, std::string_view program,
                            const std::vector<std::string>& arguments = {},
                            std::string_view more = "");

/// [listen.http] on a Unix socket in the daemon's directory, which needs no token.
std::string http_table(const Daemon& daemon);

}  // namespace cellblock::harness
