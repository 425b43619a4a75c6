#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::cli {

/// What an image says of how it is started (the OCI image specification's config). Untrusted text.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;  ///< arguments where none are given
  std::vector<std::pair<std::string, std::string>> variables;
  std::string working_directory;
};

/// An error: it is no such JSON, or has more than 1024 words or 256 variables.
Result<ImageConfig> read_image_config(const std::string& text);

/// What is run where nothing else is asked for.
std::vector<std::string> started_by(const ImageConfig& config);

}  // namespace cellblock::cli
