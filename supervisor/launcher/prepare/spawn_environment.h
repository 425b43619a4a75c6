#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/prepare/secret_store.h"

namespace cellblock::launcher {

/// What a server's environment and secret files are made of, in one block of memory: so the copies
/// that init and guardian have of it can be wiped in one go. Wiped here when it goes.
class SpawnEnvironment {
 public:
  /// `plain`: "NAME=value". Of `secrets` those for the environment and for files are taken.
  SpawnEnvironment(const std::vector<std::string>& plain, const std::vector<CellSecret>& secrets);
  SpawnEnvironment(const SpawnEnvironment&) = delete;
  SpawnEnvironment& operator=(const SpawnEnvironment&) = delete;
  ~SpawnEnvironment();

  /// Points the plan at what is here, which must outlive the clone.
  void enter_into(ChildPlan& plan) const;

 private:
  char* add(const std::string& text);

  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::unique_ptr<char[]> block_;
  std::vector<char*> variables_;
  std::vector<SecretFile> files_;
  std::string file_options_;
};

}  // namespace cellblock::launcher
