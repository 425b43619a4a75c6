#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cellblock/types.h"

/// How much of a model's context a list of tools takes.
namespace cellblock::cli {

struct ListWeight {
  std::string server;
  std::size_t tools = 0;
  std::uint64_t bytes = 0;  ///< of the definitions, as hosts get them
  bool operator==(const ListWeight&) const = default;
};

/// An estimate: models' tokenizers take 3 to 5 bytes of JSON in English for a token.
constexpr std::uint64_t tokens_in(std::uint64_t bytes) { return (bytes + 3) / 4; }

/// In the order of the list. `server`: whose list it is; empty: of all, where the names say it.
std::vector<ListWeight> weights_of(const std::vector<client::Tool>& tools,
                                   const std::string& server);

/// A line for each, and where there are several one for all. Safe for a terminal.
std::string weight_text(const std::vector<ListWeight>& weights);
/// An array of `{"server", "tools", "bytes", "tokens"}`.
std::string weight_json(const std::vector<ListWeight>& weights);

}  // namespace cellblock::cli
