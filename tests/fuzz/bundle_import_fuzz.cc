#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/configured_bundle.h"
#include "client/cli/import/read/bundle_archive.h"
#include "client/cli/import/read/bundle_settings.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/manifest_readers.h"
#include "supervisor/os/sys.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/import_checks.h"
#include "tests/fuzz/input.h"

namespace {

using namespace cellblock::cli;  // NOLINT(google-build-using-namespace)
using cellblock::Fd;
using cellblock::fuzz::Input;

// A secret is in no word of a command, whatever a manifest says.
void settle(std::string_view text) {
  constexpr const char* secret = "hush-of-the-fuzzer";
  const auto document = json_of_json(text);
  if (!document || !document->is_object() || text.contains(secret)) return;
  const auto server = unfilled_bundle(*document, {});
  const auto settings = bundle_settings(*document);
  if (!server || !settings) return;
  std::vector<std::string> given;
  for (const auto& setting : *settings) {
    if (setting.is_secret) given.push_back(setting.key + "=" + secret);
  }
  const auto values = setting_values(*settings, given, {.home = "/home/a", .directory = "/"});
  const auto settled = values ? with_settings(*server, *settings, *values)
                              : cellblock::Result<DeclaredServer>(*server);
  if (!settled) return;
  for (const auto& word : settled->command) CELLBLOCK_FUZZ_CHECK(!word.contains(secret));
  for (const auto& variable : settled->variables) {
    CELLBLOCK_FUZZ_CHECK(variable.secret || !variable.value.contains(secret));
  }
}

void read_manifest(std::string_view text, const DeclaredBundle& bundle) {
  settle(text);
  const auto servers = declared_servers(text, {.format = ImportFormat::bundle, .bundle = bundle});
  if (servers) cellblock::fuzz::check_proposals(*servers);
}

void read_archive(std::string_view bytes) {
  const Fd file(::memfd_create("bundle", MFD_CLOEXEC));
  CELLBLOCK_FUZZ_CHECK(file.valid() && cellblock::write_all(file.get(), bytes));
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  CELLBLOCK_FUZZ_CHECK(is_zip(path) == bytes.starts_with("PK\x03\x04"));
  constexpr std::size_t most = 64U << 10;
  const auto manifest = packed_manifest(path, most);
  if (!manifest) {
    CELLBLOCK_FUZZ_CHECK(!manifest.error().text.empty());
    return;
  }
  CELLBLOCK_FUZZ_CHECK(manifest->size() <= most);
  read_manifest(*manifest, {.directory = {}, .archive = path});
}

}  // namespace

/// An MCPB bundle. The first byte chooses: a manifest.json, or a zip archive with one in it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  if (input.choice(2) == 0) {
    read_manifest(input.rest(), {.directory = "/opt/bundle", .archive = {}});
  } else {
    read_archive(input.rest());
  }
  return 0;
}
