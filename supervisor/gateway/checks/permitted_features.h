#pragma once

#include "policy/access/rights.h"
#include "policy/config/config.h"

namespace cellblock::gateway {

/// What a server may ask of this person's host: what client_features names, as far as the rules
/// allow it. Nobody is asked about it, so what they ask about is not among them.
inline ClientFeatures permitted_features(const Server& server, const Rights& rights) {
  const auto allows = [&](std::string_view feature) {
    return rights.decide({AccessKind::feature, feature, nullptr}).effect == Effect::allow;
  };
  const ClientFeatures& declared = server.client_features;
  return {.roots = declared.roots && allows("roots"),
          .sampling = declared.sampling && allows("sampling"),
          .elicitation = declared.elicitation && allows("elicitation")};
}

}  // namespace cellblock::gateway
