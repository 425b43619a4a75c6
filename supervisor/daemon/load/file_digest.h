#pragma once

#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "supervisor/daemon/load/trusted_path.h"

namespace cellblock {

struct FileDigest {
  std::string sha256;  ///< lower-case hex
  FileStamp stamp;
};

/// Of a regular file of at most 4 GiB that did not change meanwhile. Blocking.
Result<FileDigest> digest_of(const TrustedFile& file);

}  // namespace cellblock
