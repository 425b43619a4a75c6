#pragma once

#include <functional>
#include <string>

#include "supervisor/os/sys.h"

namespace cellblock::containment {

/// A process that keeps the rights that its maker is about to give up, and does for it what needs
/// them. Gone with the object.
class RootHelper {
 public:
  /// `answer` runs in the process, once for each ask().
  using Answer = std::function<std::string(const std::string& word)>;
  explicit RootHelper(const Answer& answer);
  ~RootHelper();
  RootHelper(const RootHelper&) = delete;
  RootHelper& operator=(const RootHelper&) = delete;

  std::string ask(const std::string& word) const;

 private:
  pid_t pid_ = -1;
  Fd line_;
};

}  // namespace cellblock::containment
