#pragma once

#include "policy/config_reader/located.h"

namespace cellblock {

/// An entry of `env_from_file`, `secret_files` or `secret_memfds` as it is written: a path, or a
/// table.
struct SecretText {
  TextAt name;
  Place at;  ///< of the value
  Maybe<std::string> file;
  Maybe<std::string> credential;
  Maybe<TextList> command;
  Maybe<std::string> timeout;
};

}  // namespace cellblock
