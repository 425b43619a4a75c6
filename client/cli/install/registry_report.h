#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/base/result.h"

/// What a registry says of the packages of an installed server. Pure.
namespace cellblock::cli {

enum class FindingKind : std::uint8_t {
  wrong_signature,
  altered,    ///< the registry has another archive under the installed version
  withdrawn,  ///< the registry has the version no more, or has yanked it
  deprecated,
  unsigned_package,  ///< by a registry that signs others
  behind,
  changed_hands,
};

/// "wrong_signature", as the cell and `--json` have it.
const char* name_of(FindingKind kind);

struct RegistryFinding {
  FindingKind kind = FindingKind::unsigned_package;
  std::string package;
  std::string version;
  std::string detail;  ///< untrusted words, or empty

  bool operator==(const RegistryFinding&) const = default;
};

struct RegistryReport {
  std::string newest;                    ///< version of the package that was asked for; or empty
  std::vector<std::string> maintainers;  ///< of it, sorted; empty: the registry does not say
  std::string publisher;                 ///< of the installed version; or empty
  std::string newest_publisher;
  bool has_keys = false;  ///< the registry signs packages
  std::uint64_t packages = 0;
  std::uint64_t signed_packages = 0;  ///< with a signature that fits
  std::uint64_t attested = 0;         ///< with a provenance attestation, which nobody has verified
  std::vector<RegistryFinding> findings;
  std::uint64_t left_out = 0;  ///< findings beyond the bound

  bool operator==(const RegistryReport&) const = default;
};

/// As the cell that asked the registry wrote it. Untrusted text. An error: it is nothing of the
/// kind.
Result<RegistryReport> read_registry_report(const std::string& text);

/// An error: a package must not be installed. Its signature does not fit, or the registry has
/// another archive under its version than the one that was fetched, which no signature is about.
Result<void> check_signatures(const RegistryReport& report);

/// What whoever installs it should know, a line each: missing signatures, deprecation. `registry`:
/// in words ("the registry", "the index"). `package`: the one that was asked for.
std::vector<std::string> notes_of(const RegistryReport& report, const std::string& registry,
                                  const std::string& package);

/// "3 of 134 packages have no signature: a 1.0.0, b 2.0.0", or that all have one that fits, or that
/// `registry` gives none.
std::string signature_note(const RegistryReport& report, const std::string& registry);

}  // namespace cellblock::cli
