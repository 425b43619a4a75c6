#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Files and credentials that hold secrets. Read once, by the supervisor alone.
namespace cellblock {

inline constexpr std::size_t max_secret_bytes = 64U << 10;

/// The content without one trailing newline. The file must be no symbolic link, owned by one of
/// `owners`, closed to group and others (0640 passes if its group is root), in directories that
/// only `owners` can change. Errors never quote the content. The caller wipes it; no other copy is
/// left.
Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners);

/// Whether this process may not read that file, or not look where it is.
bool is_closed_to_us(const std::string& path);

/// The content of the file `name` (policy/config_check/credential_name.h) in `directory`, which
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

}  // namespace cellblock
