#pragma once

#include <optional>

#include "policy/config.h"
#include "policy/config_text.h"
#include "policy/host_facts.h"
#include "policy/value_check.h"

/// [listen.http] -> HttpListen.
namespace cellblock {

struct HttpSurroundings {
  RunMode mode{};
  const Identity& identity;
  const Listen& listen;
};

/// Nothing where nothing is declared.
std::optional<HttpListen> check_http(Complaints& complaints, const ConfigText& text,
                                     const HttpSurroundings& around, const HostFacts& facts);

}  // namespace cellblock
