#pragma once

#include <functional>
#include <string>

#include "policy/cell_facts.h"
#include "policy/config.h"
#include "tests/integration/test_directory.h"

namespace cellblock::containment {

struct CellRun {
  CellFacts facts;
  std::string output;   ///< standard output, without the last newline
  std::string trouble;  ///< not empty: the cell could not even be tried
};

struct CellSpec {
  Server server;
  std::vector<EnvironmentVariable> neighbour;  ///< not empty: another cell that lives meanwhile
  std::function<void()> in_launcher;           ///< before anything is prepared
  Cgroup cgroup;                               ///< as the supervisor found it
  int groups = -1;                             ///< directory for the cells' groups, or none
};

/// Prepares everything as the launcher does, starts the server and waits for its end. `directory`
/// belongs to ids_here().daemon, and what the server needs of it is declared by the server.
CellRun run_in_cell(const harness::TestDirectory& directory, const CellSpec& spec);

}  // namespace cellblock::containment
