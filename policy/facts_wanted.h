#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/config_text.h"
#include "policy/host_facts.h"

/// Which facts a configuration raises questions about: what has to be looked up before it can be
/// checked. Pure.
namespace cellblock {

struct CommandWanted {
  std::string path;         ///< as it will be inside the cell
  std::vector<Bind> binds;  ///< well-formed ones only
};

struct FactsWanted {
  std::set<std::string> users;
  std::set<std::string> groups;
  std::set<std::string> sources;
  std::set<std::string> secrets;
  ByName<CommandWanted> commands;  ///< by server name; the first of that name
};

/// The account whose ids cellblock takes when the configuration names none.
inline constexpr const char* default_account = "cellblock";

FactsWanted facts_wanted(std::span<const ConfigText> files);

}  // namespace cellblock
