#pragma once

#include <cstdint>
#include <string_view>

#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/message/calls_in_flight.h"

namespace cellblock::gateway {

/// Puts what a session saw into the catalogues: the whole `result` of a list that came on one page,
/// or of an introduction. To be called only where the server was offered no client capability,
/// since what it offers may depend on them.
void learn_from_answer(Catalogues& catalogues, std::uint32_t server, const Call& call,
                       std::string_view result);

}  // namespace cellblock::gateway
