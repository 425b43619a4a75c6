#pragma once

#include <string_view>
#include <vector>

#include "policy/jsonrpc/message_edit.h"

namespace cellblock::gateway {

/// Valid JSON from which more is taken out than has the form of a secret: the strings and numbers
/// below a member that is called like one (`api_key`), or in the `value` of an object whose `name`
/// is; and all of an array over which a private key is spread. `edits` are what was found by form,
/// in their order; so is what is returned, and none overlaps another.
std::vector<Replacement> with_named_secrets(std::string_view json, std::vector<Replacement> edits);

}  // namespace cellblock::gateway
