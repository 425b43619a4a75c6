#pragma once

#include <functional>
#include <string>

#include "policy/config/config.h"
#include "policy/failures/end_verdict.h"
#include "supervisor/launcher/run/cells.h"
#include "tests/integration/test_directory.h"

namespace cellblock::containment {

struct CellRun {
  CellFacts facts;
  std::string output;            ///< standard output, without the last newline
  std::string note;              ///< what CellSpec::when_running gave back
  bool neighbour_lived = false;  ///< when the cell ended
  std::string trouble;           ///< not empty: the cell could not even be tried
};

struct CellSpec {
  Server server;
  std::vector<std::string> secrets;            ///< values of server.secrets
  std::vector<EnvironmentVariable> neighbour;  ///< not empty: another cell that lives meanwhile
  std::function<void()> in_launcher;           ///< before anything is prepared
  /// In the launcher, once the server's program runs; `cell` is its number in `cells`.
  std::function<std::string(launcher::Cells& cells, std::uint64_t cell)> when_running;
  std::string user_name = "tester";  ///< of whoever has connected
  int workspace = -1;                ///< a descriptor that its host passed, or none
  Cgroup cgroup;                     ///< as the supervisor found it
  int groups = -1;                   ///< directory for the cells' groups, or none
};

/// Prepares everything as the launcher does, starts the server and waits for its end. `directory`
/// belongs to ids_here().daemon, and what the server needs of it is declared by the server.
CellRun run_in_cell(const harness::TestDirectory& directory, const CellSpec& spec);

}  // namespace cellblock::containment
