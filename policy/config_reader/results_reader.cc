#include "policy/config_reader/results_reader.h"

namespace cellblock {

ResultBoundsText read_result_bounds(TableReader& reader) {
  ResultBoundsText text;
  text.bounds = reader.text("bounds");
  text.max_bytes = reader.text("max_bytes");
  text.max_item_bytes = reader.text("max_item_bytes");
  text.max_media_bytes = reader.text("max_media_bytes");
  text.max_items = reader.integer("max_items");
  text.max_depth = reader.integer("max_depth");
  return text;
}

ResultsText read_results(TableReader reader) {
  ResultsText text;
  text.bounds = read_result_bounds(reader);
  text.kept = reader.integer("kept");
  text.kept_bytes = reader.text("kept_bytes");
  text.kept_bytes_per_user = reader.text("kept_bytes_per_user");
  text.kept_for = reader.text("kept_for");
  return text;
}

}  // namespace cellblock
