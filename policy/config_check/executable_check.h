#pragma once

#include <optional>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// `sha256` and `program` of a server: that what runs is what the admin installed.
namespace cellblock {

/// None: no `sha256`. A file whose digest could not be taken has a stamp that no file has.
std::optional<FileStamp> check_digest(const Scope& scope, const ServerText& text,
                                      const HostFacts& facts);

/// Nobody else can change anything in the directory.
void check_program(const Scope& scope, const ServerText& text, const HostFacts& facts);

}  // namespace cellblock
