#include "policy/access/tokens_without_rights.h"

#include "policy/access/servers_for.h"

namespace cellblock {

std::set<std::uint32_t> idle_tokens(const Config& config) {
  std::set<std::uint32_t> idle;
  if (!config.http || config.mode == RunMode::user) return idle;
  for (std::uint32_t i = 0; i < config.http->tokens.size(); ++i) {
    const HttpToken& token = config.http->tokens[i];
    const Identified who{token.uid, token.gid, token.groups};
    if (servers_for(config, subject_of(config.roles, who)) == ServerSet{}) idle.insert(i);
  }
  return idle;
}

}  // namespace cellblock
