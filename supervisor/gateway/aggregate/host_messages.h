#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "supervisor/gateway/aggregate/aggregate_effects.h"

namespace cellblock::gateway {

inline void say_to_host(AggregateEffects& effects, std::string_view text) {
  effects.to_host(std::array<std::string_view, 2>{text, "\n"});
}

inline void say_to_leg(AggregateEffects& effects, std::uint32_t server, std::string_view text) {
  effects.to_leg(server, std::array<std::string_view, 2>{text, "\n"});
}

}  // namespace cellblock::gateway
