#pragma once

#include <gtest/gtest.h>

#include <string>

#include "policy/config_reader/complaint.h"

namespace cellblock {

/// What was complained about, where nothing or one thing is; empty: nothing.
struct OneComplaint {
  std::string key;
  std::string says;
};

inline OneComplaint one_complaint(Complaints& complaints) {
  const auto said = complaints.take_sorted();
  EXPECT_LE(said.size(), 1U);
  return said.empty() ? OneComplaint{} : OneComplaint{said[0].key, said[0].text};
}

}  // namespace cellblock
