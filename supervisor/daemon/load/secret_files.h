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

/// Files and credentials that hold secrets: read once, by the supervisor alone, and marked for the
/// gateways.
namespace cellblock {

inline constexpr std::size_t max_secret_bytes = 64U << 10;

/// The content without one trailing newline. The file must be no symbolic link, owned by one of
/// `owners`, closed to group and others (0640 passes if its group is root), in directories that
/// only `owners` can change. Errors never quote the content. The caller wipes it; no other copy is
/// left.
Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners);

/// Whether this process may not read that file, or not look where it is.
bool is_closed_to_us(const std::string& path);

/// The content of the file `name` (policy/config_check/secret_check.h) in `directory`, which
/// systemd has made for this service; both judged like a secret file. Empty: no credentials were
/// given.
Result<std::string> read_credential(const std::string& directory, const std::string& name,
                                    std::span<const uid_t> owners);

/// The same from that directory, which was opened (O_PATH) by who may look above it; how it was
/// reached is not judged.
Result<std::string> read_credential(const Fd& opened, const std::string& directory,
                                    const std::string& name, std::span<const uid_t> owners);

/// Of a service of the system's manager, opened by root: "/run/credentials/NAME.service". A reload
/// reads there as the daemon's user, who may not pass the directory above. Not valid: no such
/// directory, or another path, which root opens for nobody.
Fd open_service_credentials(const std::string& directory);

// Files of `[[listen.http.token]]`: the supervisor keeps the digest and wipes the rest.

inline constexpr std::size_t shortest_token = 32;

/// Owner, mode and place as read_secret_file() wants them; one line of visible ASCII of at least
/// `shortest_token` characters. What is wrong is said without quoting any of it.
TokenFacts look_at_token(const std::string& path, std::span<const uid_t> owners);

/// The texts of the secrets of a configuration, as far as they can be read.
struct SecretTexts {
  ByName<std::string> files;        ///< by path
  ByName<std::string> credentials;  ///< by name
};

/// Who reads them.
struct SecretReader {
  std::span<const uid_t> owners;
  const Fd* credentials = nullptr;  ///< their directory, where it is open already
  bool is_somebody_else = false;    ///< checks by hand, as neither root nor the daemon
};

/// Each once, so that what was judged is what is used. What cannot be used is told in `facts`,
/// which says where the credentials are. The caller wipes the result.
SecretTexts read_secret_texts(const FactsWanted& wanted, const SecretReader& reader,
                              HostFacts& facts);

/// A value for each secret of each server; empty where a command is yet to print it, and where
/// credentials were not looked at. Wipes `texts`.
Secrets in_order(const Config& config, SecretTexts texts);

/// By what the gateways recognise the secrets of the servers, under a new random key for each.
/// Without randomness the process ends.
void mark_secrets(Config& config, const Secrets& secrets);

struct UnmarkedSecret {
  std::string server;
  std::string name;
};

/// Those that are too short to be recognised.
std::vector<UnmarkedSecret> unmarked_secrets(const Config& config, const Secrets& secrets);

}  // namespace cellblock
