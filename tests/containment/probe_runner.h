#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "tests/containment/outside.h"
#include "tests/integration/test_directory.h"

/// cellblock-probe, run outside and in cells, aimed at the same things outside.
namespace cellblock::containment {

/// One line of `cellblock-probe --tsv`.
struct Answer {
  std::string kind;    ///< the class
  std::string result;  ///< "held", "open", "not_applicable", "unclear"
  std::string error;   ///< "EPERM", or empty
  std::string detail;
  std::string verdict;  ///< "held", "declared", "unexpected", "not_applicable"
};
using Answers = std::map<std::string, Answer>;  ///< by id

/// What there is to reach outside: something of each kind that the probe can be aimed at.
class ProbeTargets {
 public:
  explicit ProbeTargets(const harness::TestDirectory& directory);
  ~ProbeTargets();
  ProbeTargets(const ProbeTargets&) = delete;
  ProbeTargets& operator=(const ProbeTargets&) = delete;

  /// The words of the probe's command line.
  std::vector<std::string> words() const;

 private:
  std::string file_;
  // In a directory that the cell sees, so that only the filter is in the way.
  std::string socket_path_;
  std::string datagram_path_;
  std::string abstract_name_;
  std::string port_;
  std::vector<int> sockets_;
  int process_ = -1;
};

inline constexpr char planted_variable[] = "CELLBLOCK_PLANTED";

std::vector<std::string> probe_command(const harness::TestDirectory& directory,
                                       const ProbeTargets& targets,
                                       const std::vector<std::string>& more);

/// Everything but the fatal attempts, as that user outside.
Answers probe_outside(const harness::TestDirectory& directory, const ProbeTargets& targets,
                      Outside who, const std::vector<std::string>& more = {});

/// The same in a cell of this server, whose command and binds are filled in here. `trouble` is set
/// if the cell did not run.
Answers probe_inside(const harness::TestDirectory& directory, const ProbeTargets& targets,
                     Server server, std::string& trouble,
                     const std::vector<std::string>& more = {});

}  // namespace cellblock::containment
