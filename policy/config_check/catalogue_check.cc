#include "policy/config_check/catalogue_check.h"

#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {

CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "catalogue."};
  CatalogueRules rules;
  read_keys(scope, main.catalogue, rules);
  // Else no legacy server that is silent when asked would ever be surveyed.
  if (rules.era_probe < rules.survey) return rules;
  scope.error(main.catalogue.at("era_timeout"), "era_timeout",
              "is not shorter than catalogue.survey_timeout, which is for all of it; allowed: less "
              "than " +
                  duration_text(rules.survey));
  return rules;
}

}  // namespace cellblock
