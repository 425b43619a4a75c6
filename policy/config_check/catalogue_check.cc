#include "policy/config_check/catalogue_check.h"

#include "policy/base/units.h"
#include "policy/config_check/value_check.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr Range<milliseconds> expiry_range{milliseconds{60'000}, milliseconds{31LL * 86'400'000}};
constexpr Range<milliseconds> survey_range{milliseconds{1'000}, milliseconds{600'000}};
constexpr Range<milliseconds> era_range{milliseconds{100}, milliseconds{60'000}};
constexpr Range<std::uint64_t> catalogue_bytes_range{64U << 10, 64U << 20};

}  // namespace

CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "catalogue."};
  const CatalogueText& text = main.catalogue;
  CatalogueRules rules;
  check_duration(scope, "expiry", text.expiry, expiry_range, rules.expiry);
  check_duration(scope, "survey_timeout", text.survey_timeout, survey_range, rules.survey);
  check_duration(scope, "era_timeout", text.era_timeout, era_range, rules.era_probe);
  check_size(scope, "max_bytes", text.max_bytes, catalogue_bytes_range, rules.max_bytes);
  // Else no legacy server that is silent when asked would ever be surveyed.
  if (rules.era_probe < rules.survey) return rules;
  const Place at = text.era_timeout ? text.era_timeout->at : Place{};
  scope.error(at, "era_timeout",
              "is not shorter than catalogue.survey_timeout, which is for all of it; allowed: less "
              "than " +
                  duration_text(rules.survey));
  return rules;
}

}  // namespace cellblock
