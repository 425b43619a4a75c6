#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/tool_rows/import_format.h"
#include "policy/base/result.h"

namespace cellblock::cli {

struct ImportQuestion {
  std::optional<ImportFormat> format;  ///< none: as it is recognised
  DeclaredBundle bundle;               ///< where it is, if it is one
};

/// What a configuration declares.
Result<std::vector<DeclaredServer>> declared_servers(std::string_view text,
                                                     const ImportQuestion& question);

/// What is left to do for each imported server.
std::string import_summary(const std::vector<Proposal>& proposals);

}  // namespace cellblock::cli
