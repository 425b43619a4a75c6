#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config_bytes.h"

/// Secrets leave this process's memory: what one function copied, the same function wipes. A string
/// that holds a secret is made by secret_text, so that moving it moves a pointer: a short string is
/// moved by copying its bytes, and the old place keeps them.
namespace cellblock {

std::string secret_text(std::string_view text);

void wipe(std::string& text);
void wipe(std::vector<std::byte>& bytes);
void wipe(Secrets& secrets);

}  // namespace cellblock
