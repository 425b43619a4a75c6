#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/results/result_items.h"

/// The words in which a bounded result says what it lacks, and how that is read.
namespace cellblock {

/// What somebody has kept of what is left out.
struct KeptParts {
  std::string uri;                 ///< of the whole; its parts are uri + "/1" ...; empty: nothing
  std::vector<std::size_t> bytes;  ///< of each part: its beginning; missing: none
  std::string reader;              ///< the tool that reads on; empty: only resources/read does
  std::string life;                ///< "30 minutes", or empty
};

/// A part and what is kept of it. `number` counts from 0.
struct PartPlace {
  const KeptParts& kept;
  std::size_t number = 0;
  std::size_t size = 0;

  std::string uri() const { return kept.uri + "/" + std::to_string(number + 1); }
  std::size_t kept_bytes() const {
    return kept.uri.empty() || number >= kept.bytes.size() ? 0 : kept.bytes[number];
  }
};

/// None is longer than note_room, whatever it is about.
std::string cut_note(std::size_t missing, std::size_t offset, const PartPlace& place);
std::string media_note(const ResultItem& item, const PartPlace& place);
std::string items_note(std::size_t left_out, std::size_t of, const PartPlace& place);
std::string structured_note(std::string_view why, const PartPlace& place);
std::string no_object_note(const PartPlace& place);

}  // namespace cellblock
