#pragma once

#include <cstdint>
#include <string>

#include "policy/config_reader/located.h"

/// What the TOML says about results, as it is written.
namespace cellblock {

/// `[server.NAME.results]`, `[server.NAME.tool.TOOL.results]`, and part of `[results]`
struct ResultBoundsText {
  Maybe<std::string> bounds;
  Maybe<std::string> max_bytes;
  Maybe<std::string> max_item_bytes;
  Maybe<std::string> max_media_bytes;
  Maybe<std::int64_t> max_items;
  Maybe<std::int64_t> max_depth;
};

/// `[results]`
struct ResultsText {
  ResultBoundsText bounds;
  Maybe<std::int64_t> kept;
  Maybe<std::string> kept_bytes;
  Maybe<std::string> kept_bytes_per_user;
  Maybe<std::string> kept_for;
};

}  // namespace cellblock
