#include "policy/results/allotment.h"

#include <algorithm>

#include "policy/json/json_text.h"

namespace cellblock {
namespace {

constexpr std::size_t least_share = 4'096;  ///< below it, cutting all helps nobody
constexpr std::size_t least_text = 1'280;   ///< of a cut text, or it is mostly its note

struct Wish {
  ItemKind kind = ItemKind::opaque;
  std::size_t frame = 0;
  std::size_t size = 0;   ///< as it is
  std::size_t wants = 0;  ///< what it would take of the text's bound, if there were enough
  bool is_replaced = false;
};

Wish wish_of(const ResultItem& item, const ResultBounds& bounds, std::uint64_t& media_left) {
  const std::size_t frame = item.frame();
  if (item.kind == ItemKind::opaque) {
    const bool is_small = item.raw.size() <= bounds.max_item_bytes;
    return {item.kind, frame, item.raw.size(), is_small ? item.raw.size() : 0};
  }
  if (item.kind == ItemKind::text) {
    const std::size_t size = frame + decoded_size(item.payload);
    return {item.kind, frame, size, std::min<std::size_t>(size, bounds.max_item_bytes)};
  }
  const std::size_t base64 = item.payload.size() - 2;  // without the quotes
  if (base64 <= media_left) {
    media_left -= base64;
    return {item.kind, frame, frame, frame};
  }
  return {item.kind, frame, frame, note_room, true};
}

/// The greatest share with which all of them fit.
std::size_t share_of(const std::vector<Wish>& wishes, std::size_t room) {
  std::vector<std::size_t> wants(wishes.size());
  std::ranges::transform(wishes, wants.begin(), &Wish::wants);
  std::ranges::sort(wants);
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const std::size_t share = room / (wants.size() - i);
    if (wants[i] > share) return share;
    room -= wants[i];
  }
  return wants.empty() ? 0 : wants.back();
}

Allotment given(const Wish& wish, std::size_t bytes) {
  if (wish.is_replaced) return {bytes < note_room ? Fate::left_out : Fate::replaced, note_room};
  if (wish.size <= bytes) return {Fate::whole, wish.size};
  const bool is_cut = wish.kind == ItemKind::text && bytes >= wish.frame + least_text;
  return is_cut ? Allotment{Fate::cut, bytes} : Allotment{Fate::left_out, 0};
}

std::vector<Allotment> give_shares(const std::vector<Wish>& wishes, std::size_t share) {
  std::vector<Allotment> allotments;
  allotments.reserve(wishes.size());
  for (const Wish& wish : wishes) {
    allotments.push_back(given(wish, std::min(share, wish.wants)));
  }
  return allotments;
}

// The first that does not fit takes what there is: what is left out goes on from there.
std::vector<Allotment> give_in_order(const std::vector<Wish>& wishes, std::size_t room) {
  std::vector<Allotment> allotments;
  for (const Wish& wish : wishes) {
    allotments.push_back(given(wish, std::min(room, wish.wants)));
    room -= std::min(room, wish.wants);
  }
  return allotments;
}

bool is_left_out_anyway(const Wish& wish) { return wish.wants == 0; }

}  // namespace

std::vector<Allotment> allot(const std::vector<ResultItem>& items, const ResultBounds& bounds) {
  std::uint64_t media_left = bounds.max_media_bytes;
  const std::size_t shown = std::min<std::size_t>(items.size(), bounds.max_items);
  std::vector<Wish> wishes;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    wishes.push_back(wish_of(items[i], bounds, media_left));
    sum += wishes.back().wants;
  }
  const std::size_t for_note = std::min<std::size_t>(note_room, bounds.max_bytes);
  if (shown < items.size() || std::ranges::any_of(wishes, is_left_out_anyway)) sum += for_note;
  const std::size_t room = bounds.max_bytes - for_note;
  const std::size_t share = sum <= bounds.max_bytes ? sum : share_of(wishes, room);
  auto allotments = sum <= bounds.max_bytes || share >= least_share ? give_shares(wishes, share)
                                                                    : give_in_order(wishes, room);
  allotments.resize(items.size(), {Fate::left_out, 0});
  return allotments;
}

}  // namespace cellblock
