#pragma once

#include <cstdint>

namespace cellblock::gateway {

/// Ids and progress tokens towards the server routes: each server route hides them from its server
/// behind ids that cannot be guessed (upstream_ids.h), so a count will do here.
class OwnIds {
 public:
  std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace cellblock::gateway
