#include "policy/doctor/finding.h"

#include <algorithm>
#include <array>

namespace cellblock {
namespace {

constexpr std::array<std::string_view, 4> grade_names = {"ok", "weaker", "missing", "untried"};
constexpr std::array<std::string_view, 3> need_names = {"cells", "daemon", "some"};
constexpr std::array<std::string_view, 5> outlook_names = {"full", "weaker", "no_daemon", "none",
                                                           "untried"};

}  // namespace

std::string_view name_of(Grade grade) { return grade_names.at(static_cast<std::size_t>(grade)); }

std::string_view name_of(NeededFor need) { return need_names.at(static_cast<std::size_t>(need)); }

std::string_view name_of(Outlook outlook) {
  return outlook_names.at(static_cast<std::size_t>(outlook));
}

Outlook outlook_of(const std::vector<DoctorFinding>& findings) {
  const auto lacks = [&findings](NeededFor need) {
    return std::ranges::any_of(findings, [need](const DoctorFinding& finding) {
      return finding.grade == Grade::missing && finding.need == need;
    });
  };
  if (lacks(NeededFor::cells)) return Outlook::none;
  if (lacks(NeededFor::daemon)) return Outlook::no_daemon;
  const auto has = [&findings](Grade grade) {
    return std::ranges::find(findings, grade, &DoctorFinding::grade) != findings.end();
  };
  if (has(Grade::untried)) return Outlook::untried;
  return has(Grade::weaker) ? Outlook::weaker : Outlook::full;
}

}  // namespace cellblock
