#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

/// wire.h for the homes that servers keep: gateway -> launcher, in a GatewayRequest, and launcher
/// -> gateway, in a CellEvent.
namespace cellblock::wire {

/// What is done with the home that a server keeps for the gateway's user.
enum class HomeAction : std::uint8_t {
  look = 0,   ///< what is in it is counted
  clear = 1,  ///< and removed: not while a cell of that server and user is there
};

enum class HomeAnswer : std::uint8_t {
  done = 0,          ///< files, bytes: what is in it, or was removed from it
  none = 1,          ///< the server keeps no home, or has made none yet
  in_use = 2,        ///< clear: a cell of that server and user is there
  too_many = 3,      ///< files, bytes: so many were done, and more are left
  failed = 4,        ///< error: errno
  not_permitted = 5  ///< a server that this gateway may not start
};

struct HomeFacts {
  HomeAnswer answer{};
  std::array<std::uint8_t, 3> reserved{};
  std::int32_t error = 0;
  std::uint64_t files = 0;  ///< directories as well
  std::uint64_t bytes = 0;  ///< on disk
};

static_assert(std::is_trivially_copyable_v<HomeFacts>);

}  // namespace cellblock::wire
