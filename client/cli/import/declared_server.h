#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  image,  ///< of containers: the name is a reference, the version its digest
};

struct PackageName {
  Registry registry = Registry::npm;
  std::string name;     ///< "@scope/name"
  std::string version;  ///< empty: not said, or not one version alone
};

struct InstalledPackage {
  std::string entry;  ///< what is run of it, with its whole path
  std::string version;
};

/// Where a bundle is.
struct DeclaredBundle {
  std::string directory;  ///< of an unpacked one
  std::string archive;    ///< of a packed one
};

struct DeclaredServer {
  std::string name;
  std::vector<std::string> command;  ///< program and arguments; empty: there is a package, or url
  std::vector<DeclaredVariable> variables;
  std::vector<std::string> inherited;  ///< names of variables that the host passes on
  std::string url;                     ///< of a remote one
  std::string directory;               ///< in which it is started
  std::optional<PackageName> package;  ///< `command` is then its arguments alone
  std::optional<DeclaredBundle> bundle;
  std::optional<DeclaredSandbox> sandbox;
  std::vector<std::string> tools;     ///< that alone are let through; empty: all
  std::vector<std::string> unheeded;  ///< what else stands there, by name
  std::string obstacle;               ///< why it cannot be had at all; empty: nothing
};

}  // namespace cellblock::cli
