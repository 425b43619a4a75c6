#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cellblock/bounds.h"
#include "scripted_model.h"

/// What the model was not shown, for a while: the host's own tool `read_on` pages through it.
namespace agent_host {

class KeptResults {
 public:
  static constexpr const char* tool = "read_on";

  /// Bounds for the next result, with the way in which the model reads on.
  cellblock::client::ResultBounds bounds();
  /// What was left out of it. The oldest result gives way to the newest.
  void keep(std::vector<cellblock::client::WithheldPart> parts);

  /// {"uri": "...", "offset": 0}: a page.
  Outcome read(const std::string& arguments) const;

 private:
  static constexpr std::size_t page_bytes = 8'000;
  static constexpr std::size_t most_results = 16;
  static constexpr std::size_t most_bytes = 4U << 20;  // of one part

  struct Kept {
    std::string uri;
    std::vector<cellblock::client::WithheldPart> parts;
  };

  std::deque<Kept> kept_;
  std::string uri_;
  unsigned number_ = 0;
};

}  // namespace agent_host
