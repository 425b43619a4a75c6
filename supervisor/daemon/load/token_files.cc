#include "supervisor/daemon/load/token_files.h"

#include <algorithm>

#include "policy/encoding/sha256.h"
#include "supervisor/daemon/load/secret_files.h"
#include "supervisor/daemon/load/wipe.h"

namespace cellblock {
namespace {

bool is_visible(char letter) { return letter > ' ' && letter <= '~'; }

std::string problem_of(const std::string& token) {
  if (!std::ranges::all_of(token, is_visible)) {
    return "is not one line of visible ASCII without spaces";
  }
  if (token.size() >= shortest_token) return {};
  return "has fewer than 32 characters; make one with: openssl rand -hex 32";
}

}  // namespace

TokenFacts look_at_token(const std::string& path, std::span<const uid_t> owners) {
  auto token = read_secret_file(path, owners);
  if (!token) return {{}, token.error().text};
  TokenFacts facts;
  facts.problem = problem_of(*token);
  if (facts.problem.empty()) {
    const auto digest = sha256(*token);
    if (digest) {
      facts.sha256 = *digest;
    } else {
      facts.problem = digest.error().text;
    }
  }
  wipe(*token);
  return facts;
}

}  // namespace cellblock
