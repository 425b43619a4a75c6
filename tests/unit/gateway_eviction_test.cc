#include <gtest/gtest.h>

#include <array>

#include "supervisor/gateway/cell/eviction.h"

namespace cellblock::gateway {
namespace {

using wire::StartRefusal;

constexpr std::uint32_t wanted = 1;
constexpr std::uint32_t other = 2;

Time at(int seconds) { return Time{} + std::chrono::seconds(seconds); }

EvictionCandidate idle(std::uint32_t server, int used) {
  return {.server = server, .may_give_way = true, .last_used = at(used)};
}
EvictionCandidate busy(std::uint32_t server) { return {.server = server}; }
EvictionCandidate spare(std::uint32_t server, int used) {
  EvictionCandidate cell = idle(server, used);
  cell.is_spare = true;
  return cell;
}
EvictionCandidate in_use(std::uint32_t server) {
  EvictionCandidate cell = idle(server, 1);
  cell.is_in_use = true;
  return cell;
}
EvictionCandidate ending(std::uint32_t server) { return {.server = server, .is_ending = true}; }

TEST(Eviction, TakesTheIdleCellThatWasNotUsedForLongestAndSpareOnesFirst) {
  struct Row {
    const char* claim;
    StartRefusal refusal;
    std::vector<EvictionCandidate> cells;
    std::optional<std::size_t> victim;
    bool is_under_way = false;
    std::size_t claims = 0;
    bool is_awaited = true;
  };
  constexpr auto of_server = StartRefusal::too_many_cells;
  constexpr auto in_all = StartRefusal::too_many_cells_in_all;
  const std::array rows = {
      Row{"nothing runs", in_all, {}, {}},
      Row{"all are busy", in_all, {busy(wanted), busy(other)}, {}},
      Row{"the one that was used first", in_all, {idle(other, 5), idle(wanted, 3)}, 1},
      Row{"not a busy one", in_all, {busy(other), idle(other, 9)}, 1},
      Row{"a spare one, however new", in_all, {idle(other, 1), spare(other, 9)}, 1},
      Row{"of several spare ones the oldest", in_all, {spare(other, 4), spare(other, 2)}, 1},
      Row{"only of the server that has too many", of_server, {idle(other, 1), idle(wanted, 9)}, 1},
      Row{"none of another server", of_server, {idle(other, 1), busy(wanted)}, {}},
      Row{"none where one is on its way out", in_all, {idle(other, 1), ending(other)}, {}, true},
      Row{"but not that of another server", of_server, {ending(other), idle(wanted, 1)}, 1},
      Row{"another where that is waited for", in_all, {idle(other, 1), ending(other)}, 0, false, 1},
      Row{"none behind others where none can", in_all, {busy(other), ending(other)}, {}, true, 1},
      Row{"soon one that was used just now", in_all, {in_use(other)}, {}, true},
      Row{"before that one that was not", in_all, {in_use(other), idle(other, 9)}, 1},
      Row{"a spare one where nobody waits",
          in_all,
          {idle(other, 1), spare(other, 9)},
          1,
          false,
          0,
          false},
      Row{"no other where nobody waits",
          in_all,
          {idle(other, 1), ending(other)},
          {},
          false,
          0,
          false},
  };
  for (const Row& row : rows) {
    const Eviction eviction = eviction_for(row.cells, {.server = wanted,
                                                       .refusal = row.refusal,
                                                       .is_awaited = row.is_awaited,
                                                       .claims = row.claims});
    EXPECT_EQ(eviction.victim, row.victim) << row.claim;
    EXPECT_EQ(eviction.is_under_way, row.is_under_way) << row.claim;
  }
}

TEST(Eviction, IsForWantOfAPlaceAndOfNothingElse) {
  EXPECT_TRUE(is_want_of_room(StartRefusal::too_many_cells));
  EXPECT_TRUE(is_want_of_room(StartRefusal::too_many_cells_in_all));
  EXPECT_FALSE(is_want_of_room(StartRefusal::disabled));
  EXPECT_FALSE(is_want_of_room(StartRefusal::no_free_identity));
  EXPECT_FALSE(is_want_of_room(StartRefusal::setup_failed));
}

}  // namespace
}  // namespace cellblock::gateway
