#include "supervisor/daemon/doctor/machine_report.h"

#include <nlohmann/json.hpp>

namespace cellblock::daemon {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DoctorFinding& finding) {
  return Json{{"check", finding.check},
              {"result", name_of(finding.grade)},
              {"needed_for", name_of(finding.need)},
              {"says", finding.says},
              {"remedy", finding.remedy}};
}

}  // namespace

std::string machine_report(const std::vector<DoctorFinding>& findings) {
  Json list = Json::array();
  for (const auto& finding : findings) list.push_back(json_of(finding));
  return Json{{"findings", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace cellblock::daemon
