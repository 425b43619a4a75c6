#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::cli {

/// The source of an image.
struct ImageSource {
  std::string reference;  ///< as skopeo takes it: "docker://HOST/NAME:TAG", "oci:/DIR:TAG"
  std::string registry;   ///< its host; empty: files of this machine
  /// Entries of egress.allow for other hosts that the registry redirects downloads to.
  std::vector<std::string> egress;
  std::string path;  ///< of a local one: the directory or file; empty: of a registry
};

/// `image` as an engine takes it ("mcp/time:1.2", "ghcr.io/a/b@sha256:..."), or a local one as
/// skopeo does: "oci:DIR[:TAG]", "oci-archive:FILE[:TAG]", "docker-archive:FILE[:TAG]", with whole
/// paths. An error: nothing of that kind. Pure.
Result<ImageSource> image_source(const std::string& image);

}  // namespace cellblock::cli
