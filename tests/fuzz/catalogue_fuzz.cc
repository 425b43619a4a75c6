#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "policy/audit/chain.h"
#include "policy/encoding/sha256.h"
#include "supervisor/gateway/catalogue/catalogue_file.h"
#include "supervisor/gateway/checks/clean_answer.h"
#include "supervisor/gateway/checks/metadata.h"
#include "tests/fuzz/check.h"

namespace {

using namespace cellblock::gateway;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::ordered_json;

// What was cleaned once is clean, whatever it was.
void check_list(std::string_view text, ListKind kind) {
  Json items = Json::parse(text, nullptr, false);
  if (items.is_discarded()) return;
  clean_items(items, kind);
  CELLBLOCK_FUZZ_CHECK(items.is_array() && items.size() <= max_items);
  const Json once = items;
  Findings again = clean_items(items, kind);
  again[Finding::too_large] = 0;  // text that was made visible is longer
  CELLBLOCK_FUZZ_CHECK(!again.any() || items.size() < once.size());
}

void check_file(std::string_view bytes) {
  const Fingerprint fingerprint{};
  const auto kept = read_catalogue_file(bytes, fingerprint);
  if (!kept) return;
  CELLBLOCK_FUZZ_CHECK(read_catalogue_file(catalogue_file(fingerprint, *kept), fingerprint) ==
                       kept);
}

/// As if a gateway had written that: its first line has a digest that no mutation would find.
std::string sealed(std::string_view body) {
  return "cellblock-catalogue-1 " + std::to_string(body.size()) + " " +
         cellblock::audit::hex_of(cellblock::sha256(body)) + "\n" + std::string(body);
}

}  // namespace

/// The first byte chooses what the rest is taken for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto kind = static_cast<ListKind>(data[0] % list_kind_count);
  if (const auto visible = made_visible(text)) {
    CELLBLOCK_FUZZ_CHECK(!made_visible(*visible));
  }
  check_list(text, kind);
  check_file(text);
  check_file(sealed(text));
  Findings findings;
  (void)cleaned_list(kind, text, [](std::string_view) { return true; }, findings);
  (void)cleaned_introduction(text, findings);
  return 0;
}
