#include "client/cli/install/bundle_source.h"

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/program_output.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

Result<std::string> unpacking_python() {
  const auto found = this_machine().find_program("python3");
  if (!found.empty()) return trusted_program(found);
  return fail(
      "bundles are unpacked by Python in a cell, and there is none in /usr (Debian: apt-get "
      "install "
      "python3): install it, then try again");
}

std::string digest_text(const std::string& bytes) {
  return "sha256:" + hex_text(sha256(bytes)) + "\n";
}

}  // namespace

// The copy is at rest, whoever owns the archive.
Result<PackageInstaller> bundle_installer(const std::string& archive, const Scratch& scratch) {
  constexpr unsigned readable = 0755;
  const auto python = CELLBLOCK_TRY(unpacking_python());
  const auto bytes = CELLBLOCK_TRY(bounded_file(archive, most_bundle_bytes));
  const auto directory = CELLBLOCK_TRY(scratch.directory("bundle", readable));
  CELLBLOCK_CHECK(write_new_file(directory + "/bundle.mcpb", bytes));
  return PackageInstaller{.program = python,
                          .script_name = "bundle_installer.py",
                          .script = bundle_installer_script,
                          .profile = "python",
                          .lock = "cellblock-bundle.lock",
                          .lock_text = digest_text(bytes),
                          .read = {directory + ":/bundle"}};
}

}  // namespace cellblock::cli
