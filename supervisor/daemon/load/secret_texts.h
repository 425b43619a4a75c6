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

/// Each once, so that what was judged is what is used. What cannot be used is told in `facts`,
/// which says where the credentials are. `credentials`: that directory, where it is open already;
/// may be null. The caller wipes the result.
SecretTexts read_secret_texts(const FactsWanted& wanted, std::span<const uid_t> owners,
                              HostFacts& facts, const Fd* credentials = nullptr);

/// A value for each secret of each server; empty where a command is yet to print it, and where
/// credentials were not looked at. Wipes `texts`.
Secrets in_order(const Config& config, SecretTexts texts);

}  // namespace cellblock
