#pragma once

#include <string>

#include "policy/config/config.h"
#include "policy/config_check/bind_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `image` and `working_directory` of a server.
namespace cellblock {

/// The directory of an unpacked image in which no other user can change anything; empty: none.
std::string check_image(const Scope& scope, const ServerText& text, const PathsAround& around,
                        PathFindings& found);

/// A path inside the cell; empty: its home.
std::string check_working_directory(const Scope& scope, const ServerText& text);

}  // namespace cellblock
