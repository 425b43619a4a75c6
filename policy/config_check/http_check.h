#pragma once

#include <optional>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

/// [listen.http] -> HttpListen.
namespace cellblock {

struct HttpSurroundings {
  RunMode mode{};
  const Identity& identity;
  const Listen& listen;
};

/// Nothing where nothing is declared.
std::optional<HttpListen> check_http(Complaints& complaints, const ConfigText& text,
                                     const HttpSurroundings& around, const HostFacts& facts,
                                     std::vector<BrokenPart>& broken);

}  // namespace cellblock
