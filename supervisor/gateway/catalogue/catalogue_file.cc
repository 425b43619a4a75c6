#include "supervisor/gateway/catalogue/catalogue_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "policy/pins/definition.h"
#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "cellblock-catalogue-1";

std::string first_line(std::string_view body) {
  return fmt::format("{} {} {}\n", format_name, body.size(), hex_of(digest_of(body)));
}

Json findings_json(const Findings& findings) { return findings.counts; }

Json body_of(const Fingerprint& fingerprint, const KeptCatalogue& kept) {
  const Catalogue& catalogue = kept.catalogue;
  return {{"fingerprint", hex_of(fingerprint)},
          {"era", static_cast<int>(catalogue.era)},
          {"protocol_version", catalogue.protocol_version},
          {"server_info", catalogue.server_info},
          {"capabilities", catalogue.capabilities},
          {"instructions", catalogue.instructions},
          {"lists", catalogue.lists},
          {"found_at_ms", catalogue.found_at_ms},
          {"speaks", {static_cast<int>(kept.eras.legacy), static_cast<int>(kept.eras.modern)}},
          {"findings", findings_json(kept.findings)}};
}

// A file is not to make values that no enumerator has.
template <class Value>
bool read_enum(const Json& json, Value& value, unsigned last) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > last) return false;
  value = static_cast<Value>(json.get<std::uint64_t>());
  return true;
}

bool read_text(const Json& json, const char* key, std::string& text) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return false;
  text = found->get<std::string>();
  return true;
}

bool read_introduction_of(const Json& json, Catalogue& catalogue) {
  if (!json.contains("era") || !read_enum(json["era"], catalogue.era, 1)) return false;
  if (!json.contains("found_at_ms") || !json["found_at_ms"].is_number_integer()) return false;
  catalogue.found_at_ms = json["found_at_ms"].get<std::int64_t>();
  return read_text(json, "protocol_version", catalogue.protocol_version) &&
         is_known_version(catalogue.era, catalogue.protocol_version) &&
         read_text(json, "server_info", catalogue.server_info) &&
         read_text(json, "capabilities", catalogue.capabilities) &&
         read_text(json, "instructions", catalogue.instructions);
}

// Nothing can be wrong with it that was not when it was written, or somebody else wrote it.
bool is_clean(const std::string& text, ListKind kind) {
  Json list = read_tree(text);
  return list.is_array() && !clean_items(list, kind).any();
}

bool is_clean_object(const std::string& text) {
  Json value = read_tree(text);
  return value.is_object() && !clean_text(value).any();
}

bool read_lists(const Json& json, Catalogue& catalogue) {
  const auto lists = json.find("lists");
  if (lists == json.end() || !lists->is_array() || lists->size() != list_kind_count) return false;
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    if (!(*lists)[i].is_string()) return false;
    catalogue.lists.at(i) = (*lists)[i].get<std::string>();
    if (!is_clean(catalogue.lists.at(i), static_cast<ListKind>(i))) return false;
  }
  return true;
}

bool is_clean(const Catalogue& catalogue) {
  Findings findings;
  return is_clean_object(catalogue.server_info) && is_clean_object(catalogue.capabilities) &&
         !cleaned_instructions(catalogue.instructions, findings);
}

bool read_eras(const Json& json, Eras& eras) {
  const auto speaks = json.find("speaks");
  return speaks != json.end() && speaks->is_array() && speaks->size() == 2 &&
         read_enum((*speaks)[0], eras.legacy, 2) && read_enum((*speaks)[1], eras.modern, 2);
}

bool read_findings(const Json& json, Findings& findings) {
  const auto counts = json.find("findings");
  if (counts == json.end() || !counts->is_array() || counts->size() != finding_count) return false;
  for (std::size_t i = 0; i < finding_count; ++i) {
    if (!(*counts)[i].is_number_unsigned()) return false;
    findings.counts.at(i) = (*counts)[i].get<std::uint64_t>();
  }
  return true;
}

/// What follows the first line, if that is right.
std::optional<std::string_view> whole_body(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view body = bytes.substr(end + 1);
  if (bytes.substr(0, end + 1) != first_line(body)) return std::nullopt;
  return body;
}

}  // namespace

std::string catalogue_file(const Fingerprint& fingerprint, const KeptCatalogue& kept) {
  const std::string body = write_tree(body_of(fingerprint, kept));
  return first_line(body) + body;
}

std::optional<KeptCatalogue> read_catalogue_file(std::string_view bytes,
                                                 const Fingerprint& fingerprint) {
  const auto body = whole_body(bytes);
  if (!body) return std::nullopt;
  const Json json = read_tree(*body);
  std::string made_for;
  KeptCatalogue kept;
  const bool good = json.is_object() && read_text(json, "fingerprint", made_for) &&
                    made_for == hex_of(fingerprint) && read_introduction_of(json, kept.catalogue) &&
                    read_lists(json, kept.catalogue) && is_clean(kept.catalogue) &&
                    read_eras(json, kept.eras) && read_findings(json, kept.findings);
  if (!good) return std::nullopt;
  return kept;
}

}  // namespace cellblock::gateway
