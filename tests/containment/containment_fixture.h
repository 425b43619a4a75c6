#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/containment/cell_runner.h"
#include "tests/containment/outside.h"

namespace cellblock::containment {

using Arguments = std::vector<std::string>;

/// Runs probes twice, outside and inside a cell. Each test has a directory that the cell does not
/// see but for `bin`, where its probe is.
class Containment : public testing::Test {
 protected:
  Containment();

  std::string outside(const std::string& probe, const Arguments& arguments,
                      Outside who = Outside::same_user) const;

  /// A server that is this probe, for tests that want to change something about it.
  CellSpec spec_of(const std::string& probe, const Arguments& arguments) const;
  static std::string line_of(const CellRun& run);
  std::string inside(const CellSpec& spec) const { return line_of(run_in_cell(directory_, spec)); }
  std::string inside(const std::string& probe, const Arguments& arguments) const {
    return inside(spec_of(probe, arguments));
  }

  harness::TestDirectory directory_;

 private:
  Arguments command_of(const std::string& probe, const Arguments& arguments) const;
};

}  // namespace cellblock::containment

// Skips the test where only root could show that the attempt works at all.
#define NEEDS_ROOT_OUTSIDE() \
  if (::geteuid() != 0) GTEST_SKIP() << "outside a cell only root may do this"

// The pair: works outside, is refused inside with that errno. An attempt that this machine refuses
// to everybody proves nothing about cells, and is a skip that says so.
#define EXPECT_CONTAINED(outside_line, inside_line, error)                           \
  do {                                                                               \
    const std::string outside_answer = (outside_line);                               \
    if (outside_answer != "allowed") {                                               \
      GTEST_SKIP() << "this machine refuses it outside as well: " << outside_answer; \
    }                                                                                \
    EXPECT_EQ((inside_line), "refused " error);                                      \
  } while (false)
