#pragma once

#include <functional>
#include <map>

#include "supervisor/launcher/run/cell_factory.h"
#include "supervisor/launcher/run/cells.h"

namespace cellblock::launcher {

/// The helpers that connect for servers with egress: one for each of their cells, in a cell of its
/// own. Neither outlives the other. One thread.
class EgressHelpers {
 public:
  /// `ended` is called after the end of each.
  EgressHelpers(CellFactory& factory, Cells& cells, std::function<void()> ended)
      : factory_(factory), cells_(cells), ended_(std::move(ended)) {}

  /// For this cell. Without a helper the cell is killed, and its end says why.
  void start(std::uint64_t cell, const EgressEnds& ends);
  /// To be told of the end of any server's cell.
  void cell_ended(std::uint64_t cell);

 private:
  void helper_ended(std::uint64_t cell, std::uint32_t id, const CellFacts& facts);

  CellFactory& factory_;
  Cells& cells_;
  std::function<void()> ended_;
  std::map<std::uint64_t, std::uint64_t> helpers_;  ///< of a server's cell, the helper's
};

}  // namespace cellblock::launcher
