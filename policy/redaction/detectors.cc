#include "policy/redaction/detectors.h"

#include <algorithm>

#include "policy/redaction/credential_detectors.h"
#include "policy/redaction/personal_detectors.h"

namespace cellblock {

std::vector<const Detector*> all_detectors() {
  std::vector<const Detector*> all;
  for (const auto& detectors : {credential_detectors(), personal_detectors()}) {
    for (const Detector& detector : detectors) all.push_back(&detector);
  }
  return all;
}

const Detector* find_detector(std::string_view name) {
  const auto all = all_detectors();
  const auto found = std::ranges::find(all, name, &Detector::name);
  return found == all.end() ? nullptr : *found;
}

}  // namespace cellblock
