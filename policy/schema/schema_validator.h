#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "policy/schema/json_schema.h"

namespace cellblock {

/// Where a value does not match its schema. Both members are printable.
struct SchemaFault {
  std::string pointer;   ///< a JSON pointer into the value: "/filters/0/name"; "": the whole
  std::string expected;  ///< "a string, and it is a number"
};

/// Steps that holding one value to a schema may take: the schema is a server's, the value a host's,
/// and together they could take for ever. Beyond that it is a fault.
inline constexpr std::size_t max_schema_steps = 200'000;

/// nullopt: it is what the schema says. `value`: as supervisor/gateway/message/json_tree.h reads
/// it, no key twice.
std::optional<SchemaFault> schema_fault(const JsonSchema& schema,
                                        const nlohmann::ordered_json& value,
                                        std::size_t max_steps = max_schema_steps);

}  // namespace cellblock
