#include "client/lib/kept_for_good.h"

#include <atomic>
#include <utility>

namespace cellblock::client {
namespace {

struct Kept {
  std::shared_ptr<void> what;
  Kept* next = nullptr;
};

// No lock: one that another thread held at the fork is held in the child for ever.
std::atomic<Kept*> all_kept = nullptr;

}  // namespace

void keep_for_good(std::shared_ptr<void> what) {
  auto* const kept = new Kept{.what = std::move(what)};
  kept->next = all_kept.load();
  while (!all_kept.compare_exchange_weak(kept->next, kept)) {
  }
}

}  // namespace cellblock::client
