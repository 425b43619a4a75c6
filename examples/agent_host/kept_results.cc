#include "kept_results.h"

#include <nlohmann/json.hpp>

namespace agent_host {

namespace client = cellblock::client;

client::ResultBounds KeptResults::bounds() {
  uri_ = "host://results/" + std::to_string(++number_);
  return {.max_bytes = page_bytes,
          .max_item_bytes = page_bytes,
          .keep_bytes = most_bytes,
          .uri = uri_,
          .reader = tool};
}

void KeptResults::keep(std::vector<client::WithheldPart> parts) {
  if (parts.empty()) return;
  kept_.push_back({uri_, std::move(parts)});
  if (kept_.size() > most_results) kept_.pop_front();
}

Outcome KeptResults::read(const std::string& arguments) const {
  const auto json = nlohmann::json::parse(arguments, nullptr, false);
  const bool is_good = json.is_object() && json.contains("uri") && json["uri"].is_string() &&
                       (!json.contains("offset") || json["offset"].is_number_unsigned());
  if (!is_good) return {.text = R"(read_on takes {"uri": "...", "offset": 0})", .is_error = true};
  const auto uri = json["uri"].get<std::string>();
  const auto offset = json.value("offset", std::size_t{0});
  for (const auto& [base, parts] : kept_) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (uri != base + "/" + std::to_string(i + 1)) continue;
      return {.text = std::string(client::page_of(parts[i].text, offset, page_bytes))};
    }
  }
  return {.text = "nothing of that name is kept any more", .is_error = true};
}

}  // namespace agent_host
