#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/origin.h"
#include "client/cli/common/context.h"
#include "client/cli/install/package_install.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/places.h"
#include "client/cli/install/private_daemon.h"
#include "client/cli/install/scratch.h"
#include "client/cli/learn/observed.h"
#include "client/cli/learn/watched_server.h"
#include "policy/base/result.h"

/// The steps that adding and updating a server share: a version is installed and tried, and what
/// its cell sees is shown.
namespace cellblock::cli {

/// What became of a server's first start.
struct Trial {
  std::vector<std::string> tools;  ///< their names: untrusted
  std::optional<client::Error> failure;
  std::vector<RefusedOperation> refused;
};

/// Starts it in its cell, asks for its tools, and ends it. The server is declared to that daemon;
/// an error is the daemon's own.
client::Result<Trial> try_server(const PrivateDaemon& daemon, const std::string& server,
                                 const std::stop_token& stop);

/// What its cells were refused, once they have ended.
client::Result<std::vector<RefusedOperation>> refusals_of(WatchedServer& watched);

/// A package in its own directory, which is removed again unless it is kept.
class InstalledVersion {
 public:
  InstalledVersion(std::string directory, std::string version, InstallRecord record)
      : directory_(std::move(directory)),
        version_(std::move(version)),
        record_(std::move(record)) {}
  InstalledVersion(InstalledVersion&& other) noexcept;
  InstalledVersion& operator=(InstalledVersion&&) = delete;
  InstalledVersion(const InstalledVersion&) = delete;
  InstalledVersion& operator=(const InstalledVersion&) = delete;
  ~InstalledVersion();

  const std::string& directory() const { return directory_; }
  const std::string& version() const { return version_; }
  const InstallRecord& record() const { return record_; }
  void keep() { is_kept_ = true; }

 private:
  std::string directory_;
  std::string version_;
  InstallRecord record_;
  bool is_kept_ = false;
};

/// What all steps of one addition or update share.
struct Work {
  const Context& context;
  const AddPlaces& places;
  const Scratch& scratch;
  std::stop_token stop;
};

/// More than any lock file has.
inline constexpr std::size_t most_lock_bytes = 64U << 20;

/// As its registry's installer takes it.
Result<std::string> wanted_of(const PackageName& package);

/// "the registry", "the index": what has the packages, in words.
const char* registry_in_words(Registry registry);

/// Installs a package in a cell, and puts what came out into a directory of its version and of the
/// digest of its lock file, below that of the server. None: it is the one of `current`. The one
/// that is kept before it is given as it is, and stays.
Result<std::optional<InstalledVersion>> install_version(const Work& work, const std::string& server,
                                                        const Origin& current,
                                                        const PackageName& package,
                                                        const PackageInstaller& installer,
                                                        InstallScripts scripts);

/// A rule for the user who tries it: the table may allow other users, and not all tools.
std::string rule_for_trial(const std::string& server);

/// Starts a server as `table` declares it; in system mode for root, whichever users it allows.
Result<Trial> try_declaration(const Work& work, const std::string& server,
                              const std::string& table);

/// What the cell sees and may do, in the daemon's words: files, network, secrets, who may call,
/// what is weakened.
Result<std::string> explained(const Work& work, const std::string& server,
                              const std::string& table);
/// The lines of such a report that are about these. Pure.
std::string chosen_lines(const std::string& report);

/// One line: the number of tools, and the first of them.
std::string tools_line(const std::vector<std::string>& tools);
/// What its cell was refused while it was tried, and what would allow it; empty: nothing.
std::string refused_lines(const Trial& trial);

}  // namespace cellblock::cli
