#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// How what is kept of a result is named: "cellblock://results/ID" the whole,
/// "cellblock://results/ID/1" a part, "…/1?offset=400" the rest of it.
namespace cellblock::gateway {

inline constexpr std::string_view kept_results_prefix = "cellblock://results/";
inline constexpr std::size_t kept_id_length = 32;  ///< hexadecimal digits

/// By its spelling alone. A server that is called "results" has no such URIs by accident.
inline bool is_kept_uri(std::string_view uri) {
  if (!uri.starts_with(kept_results_prefix)) return false;
  uri.remove_prefix(kept_results_prefix.size());
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (uri.size() < kept_id_length) return false;
  if (!std::ranges::all_of(uri.substr(0, kept_id_length), is_digit)) return false;
  return uri.size() == kept_id_length || uri[kept_id_length] == '/';
}

}  // namespace cellblock::gateway
