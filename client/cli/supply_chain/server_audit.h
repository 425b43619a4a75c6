#pragma once

#include <string>
#include <vector>

#include "client/cli/add/origin.h"
#include "client/cli/install/registry_report.h"

/// What `cellblock servers --audit` finds out about one server. Pure.
namespace cellblock::cli {

struct ServerAudit {
  std::string server;
  std::string package;  ///< empty: it is none
  std::string version;
  std::string newest;  ///< empty: the registry did not say
  std::vector<RegistryFinding> findings;
  std::vector<std::string> notes;  ///< what is no finding, one line each
  std::string error;               ///< why the registry could not be asked; empty: it was
};

/// Of a server that was installed from a registry.
ServerAudit audit_of(const std::string& server, const Origin& origin, const RegistryReport& report);

/// Of one that no registry can be asked about: a bundle, or a program that was there already.
ServerAudit audit_without_registry(const std::string& server, const Origin& origin);

/// Several lines.
std::string audit_text(const ServerAudit& audit);

/// {"servers": […]}, in one line.
std::string audit_json(const std::vector<ServerAudit>& audits);

}  // namespace cellblock::cli
