#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/import/bundle_archive.h"
#include "client/cli/import/input_json.h"
#include "supervisor/os/sys.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/import_checks.h"
#include "tests/fuzz/input.h"

namespace {

using namespace cellblock::cli;  // NOLINT(google-build-using-namespace)
using cellblock::Fd;
using cellblock::fuzz::Input;

void read_manifest(std::string_view text, const DeclaredBundle& bundle) {
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
