#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/config_bytes.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/os/sys.h"

/// Reads files and credentials that hold secrets, once, by cellblockd alone, and marks them for the
/// gateways.
namespace cellblock {

inline constexpr std::size_t max_secret_bytes = 64U << 10;

/// Returns the content without one trailing newline. The file must not be a symbolic link, must be
/// owned by one of `owners`, closed to group and others (0640 passes if its group is root), in
/// directories that only `owners` can change. Errors never quote the content. The caller wipes it;
/// no other copy is left.
Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners);

/// Whether this process may not read that file, or may not search its directories.
bool is_closed_to_us(const std::string& path);

/// The content of the file `name` (policy/config_check/secret_check.h) in `directory`, which
/// systemd has made for this service; both are checked like a secret file. `directory` is empty:
/// the service has no credentials.
Result<std::string> read_credential(const std::string& directory, const std::string& name,
                                    std::span<const uid_t> owners);

/// The same from the directory `opened` (O_PATH), whose parents are not checked.
Result<std::string> read_credential(const Fd& opened, const std::string& directory,
                                    const std::string& name, std::span<const uid_t> owners);

/// Opens the credentials of a system service as root: "/run/credentials/NAME.service". A reload
/// reads there as the daemon's user, who may not pass the directory above. Not valid: there is no
/// such directory, or it is another path, which root never opens.
Fd open_service_credentials(const std::string& directory);

// Files of `[[listen.http.token]]`: cellblockd keeps the digest and wipes the rest.

inline constexpr std::size_t shortest_token = 32;

/// Owner, mode and place as read_secret_file() wants them; one line of visible ASCII of at least
/// `shortest_token` characters. Faults never quote the content.
TokenFacts look_at_token(const std::string& path, std::span<const uid_t> owners);

/// The texts of a configuration's secrets that can be read.
struct SecretTexts {
  ByName<std::string> files;        ///< by path
  ByName<std::string> credentials;  ///< by name
};

/// The process that reads the secrets.
struct SecretReader {
  std::span<const uid_t> owners;
  const Fd* credentials = nullptr;  ///< their directory, where it is open already
  bool is_somebody_else = false;    ///< a check by an ordinary user, neither root nor the daemon's
};

/// Reads each text once, so that the checked text is the used one. Reports unusable ones in
/// `facts`, which also says where the credentials are. The caller wipes the result.
SecretTexts read_secret_texts(const FactsWanted& wanted, const SecretReader& reader,
                              HostFacts& facts);

/// A value for each secret of each server; empty for a command's secret, and where credentials were
/// not read. Wipes `texts`.
Secrets in_order(const Config& config, SecretTexts texts);

/// Computes the marks by which the gateways recognise the servers' secrets, with a new random key
/// for each server. Without randomness the process ends.
void mark_secrets(Config& config, const Secrets& secrets);

struct UnmarkedSecret {
  std::string server;
  std::string name;
};

/// The secrets that are too short to be recognised.
std::vector<UnmarkedSecret> unmarked_secrets(const Config& config, const Secrets& secrets);

}  // namespace cellblock
