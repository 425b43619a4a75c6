#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/read/named_ranges.h"
#include "policy/base/result.h"

/// A server as a host's configuration, or a package's description, declares it. Untrusted text.
namespace cellblock::cli {

struct DeclaredVariable {
  std::string name;
  std::string value;
  bool secret = false;  ///< the file itself says so
};

/// The words of sandboxes that hosts have: what a server may do beyond reading.
struct DeclaredSandbox {
  std::vector<std::string> write;
  std::vector<std::string> denied_read;
  std::vector<std::string> denied_write;
  std::vector<std::string> domains;
  std::vector<std::string> denied_domains;
};

enum class Registry : std::uint8_t {
  npm,
  pypi,
  image,   ///< of containers: the name is a reference, the version its digest
  bundle,  ///< none: an MCPB bundle, which is a file; the name is what its manifest says
};

struct PackageName {
  Registry registry = Registry::npm;
  std::string name;     ///< "@scope/name"
  std::string version;  ///< empty: not said, or not one version alone
  std::string range{};  ///< a range or a tag in the place of a version, "latest" excepted
};

struct InstalledPackage {
  std::string entry;  ///< what is run of it, with its whole path
  std::string version;
};

/// The place of a bundle.
struct DeclaredBundle {
  std::string directory;  ///< of an unpacked one
  std::string archive;    ///< of a packed one
  std::string manifest;   ///< the text that was read from `archive`
};

struct DeclaredServer {
  std::string name;
  std::vector<std::string> command;  ///< program and arguments; empty: there is a package, or url
  std::vector<DeclaredVariable> variables;
  std::vector<std::string> inherited;     ///< names of variables that the host passes on
  std::string url;                        ///< of a remote one
  std::vector<DeclaredVariable> headers;  ///< with `url`
  std::string transport;                  ///< with `url`: "sse", or anything else
  NamedRanges named_ranges;               ///< with an address: what the adding user has named
  std::string directory;                  ///< in which it is started
  std::optional<PackageName> package;     ///< `command` is then its arguments alone
  std::optional<DeclaredBundle> bundle;
  std::optional<DeclaredSandbox> sandbox;
  std::vector<std::string> tools;     ///< that alone are let through; empty: all
  std::vector<std::string> unheeded;  ///< what else stands there, by name
  std::string obstacle;               ///< why it cannot be had at all; empty: nothing
};

// Members of objects that others wrote, unescaped. A member of another type is an error that names
// it; one that is absent is empty.

inline constexpr std::size_t max_import_texts = 1024;
inline constexpr std::size_t max_import_text = 64U << 10;

Result<std::string> text_member(const nlohmann::ordered_json& object, const char* name);
Result<std::vector<std::string>> texts_member(const nlohmann::ordered_json& object,
                                              const char* name);
/// Values that are numbers or booleans count as what they are written as.
Result<std::vector<DeclaredVariable>> variables_member(const nlohmann::ordered_json& object,
                                                       const char* name);
bool is_true(const nlohmann::ordered_json& object, const char* name);
/// An empty one if there is none.
const nlohmann::ordered_json& object_member(const nlohmann::ordered_json& object, const char* name);
const nlohmann::ordered_json& array_member(const nlohmann::ordered_json& object, const char* name);

}  // namespace cellblock::cli
