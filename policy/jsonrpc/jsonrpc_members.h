#pragma once

#include <string_view>

#include "policy/jsonrpc/jsonrpc_walk.h"

/// The members of a message that cellblock knows: in which object, under which key, where to note
/// them, and what may be known inside them.
namespace cellblock {

struct KnownMember {
  MessageWalk::Place place;
  std::string_view key;
  Found Sightings::* found;
  MessageWalk::Place inside = MessageWalk::Place::elsewhere;
};

/// Null: of no interest.
const KnownMember* find_member(MessageWalk::Place place, std::string_view key);

}  // namespace cellblock
