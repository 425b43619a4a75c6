#pragma once

#include <string>
#include <string_view>

#include "client/cli/programs/configuration.h"
#include "client/cli/purge/user_data.h"
#include "policy/base/result.h"

/// Where the system's daemon keeps what `cellblock purge` removes.
namespace cellblock::cli {

/// As the main file says, given as its text; defaults where it says nothing. An error: it cannot be
/// understood, so another place than the default could be meant.
Result<DataPlaces> data_places_in(std::string_view text, const std::string& path, FoundBy by);

/// The same of the file. One that is not there has defaults, but not where a variable names it.
Result<DataPlaces> data_places(const Configuration& configuration);

}  // namespace cellblock::cli
