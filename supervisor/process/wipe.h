#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config_bytes.h"

/// Removes secrets from this process's memory: each function wipes the copies that it made. Make a
/// string for a secret with secret_text(), so that moving it moves a pointer: moving a short string
/// copies its bytes, and the old place keeps them.
namespace cellblock {

std::string secret_text(std::string_view text);

void wipe(std::string& text);
void wipe(std::vector<std::byte>& bytes);
void wipe(Secrets& secrets);

}  // namespace cellblock
