#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "policy/failures/failure.h"
#include "policy/mcp/methods.h"

/// What a server offers, as it was found in a cell of its own or seen in a session: values only.
/// All of it is untrusted content, bounded and cleaned when it was taken in.
namespace cellblock::gateway {

using mcp::list_kind_count;
using mcp::ListKind;

struct Catalogue {
  Era era = Era::legacy;         ///< modern: it answered server/discover
  std::string protocol_version;  ///< the newest it speaks, of that era
  std::string server_info;       ///< a JSON object; "{}" if it said none
  std::string capabilities;      ///< a JSON object, with no client capability offered
  std::string instructions;
  /// JSON arrays with the items of all pages; "[]" where it has none.
  std::array<std::string, list_kind_count> lists{"[]", "[]", "[]", "[]"};
  std::int64_t found_at_ms = 0;  ///< Unix time

  const std::string& list(ListKind kind) const { return lists.at(static_cast<std::size_t>(kind)); }
  bool operator==(const Catalogue&) const = default;
};

}  // namespace cellblock::gateway
