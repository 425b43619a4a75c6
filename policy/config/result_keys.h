#pragma once

#include <cstdint>

#include "policy/config/config.h"

namespace cellblock {

inline constexpr std::uint64_t kib = 1ULL << 10;
inline constexpr std::uint64_t mib = 1ULL << 20;
inline constexpr std::uint64_t gib = 1ULL << 30;

/// `[server.NAME.results]`, `[server.NAME.tool.TOOL.results]`, and part of `[results]`
template <class Keys>
void visit_keys(Keys& k, ResultBounds& v) {
  k.choice("bounds", v.bounding, "\"off\": results pass whole");
  k.size("max_bytes", v.max_bytes, least_result_bytes, 64 * mib, "of text that a model reads");
  k.size("max_item_bytes", v.max_item_bytes, least_result_bytes, 64 * mib,
         "of one text; max_bytes where that alone is written");
  k.size("max_media_bytes", v.max_media_bytes, 0, 256 * mib,
         "of images, audio and blobs, in base64");
  k.integer("max_items", v.max_items, 1, 1'000'000, "of content, contents or messages");
  k.integer("max_depth", v.max_depth, 1, deepest_result, "levels in structuredContent");
}

}  // namespace cellblock
