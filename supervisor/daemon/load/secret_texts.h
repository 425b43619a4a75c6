#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/os/sys.h"

/// The secrets of a configuration that are there to be read: files and credentials.
namespace cellblock {

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

}  // namespace cellblock
