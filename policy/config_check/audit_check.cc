#include "policy/config_check/audit_check.h"

#include "policy/audit/log_names.h"
#include "policy/config/installation_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {

static_assert(most_kept_logs == audit::most_files - 1);

AuditRules check_audit(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "audit."};
  AuditRules rules;
  read_keys(scope, main.audit, rules);
  if (rules.keep == 0 && main.audit.has("max_bytes")) {
    scope.warning(main.audit.at("max_bytes"), "max_bytes",
                  "does nothing beside keep = 0, with which there is one file that only grows");
  }
  return rules;
}

}  // namespace cellblock
