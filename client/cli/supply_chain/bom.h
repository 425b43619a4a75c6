#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What a server is made of, and its form as a CycloneDX 1.5 document. Pure.
namespace cellblock::cli {

struct BomHash {
  std::string algorithm;  ///< "SHA-512", as CycloneDX names it
  std::string digits;     ///< hexadecimal

  bool operator==(const BomHash&) const = default;
};

struct BomComponent {
  std::string type = "library";  ///< or "application", "container"
  std::string group;             ///< "@scope"; or empty
  std::string name;
  std::string version;
  std::string purl;  ///< "pkg:npm/left-pad@1.0.0"; names it within the document as well
  std::vector<BomHash> hashes;
  std::string licence;                    ///< as its author wrote it; or empty
  std::string source;                     ///< the address that its archive came from; or empty
  std::vector<std::string> dependencies;  ///< purls of components of the same document

  bool operator==(const BomComponent&) const = default;
};

/// Whether the components are all that is in it.
enum class BomExtent : std::uint8_t { complete, incomplete, unknown };

struct Bom {
  BomComponent server;
  std::vector<BomComponent> components;  ///< without the server itself
  BomExtent extent = BomExtent::complete;
  std::string installed;  ///< "2026-11-28T08:00:00Z"; empty: not known
};

/// The same for the same installation, byte for byte: the serial number is a digest of the rest,
/// the time is that of the installation.
std::string bom_json(Bom bom);

/// "pkg:npm/%40acme/files@1.0.0". `kind`: "npm". The parts of `path` are encoded.
std::string package_url(const std::string& kind, const std::string& path,
                        const std::string& version);

}  // namespace cellblock::cli
