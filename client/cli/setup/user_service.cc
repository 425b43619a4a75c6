#include "client/cli/setup/user_service.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "client/cli/install/program_output.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr const char* unit = "cellblock.socket";

// Where the user's manager listens.
bool has_user_manager() {
  const auto runtime = environment_variable("XDG_RUNTIME_DIR");
  std::error_code ignored;
  return !runtime.empty() && std::filesystem::exists(runtime + "/systemd/private", ignored);
}

bool knows_unit() {
  const auto output = output_of({"systemctl", "--user", "cat", unit}, Errors::caught);
  return output && output->status == 0;
}

}  // namespace

ServiceFacts service_facts(const Context& context) {
  ServiceFacts facts{.serves = !daemon_fault(context), .has_manager = has_user_manager()};
  facts.has_unit = !facts.serves && facts.has_manager && knows_unit();
  return facts;
}

Result<void> enable_service() {
  const auto output =
      CELLBLOCK_TRY(output_of({"systemctl", "--user", "enable", "--now", unit}, Errors::caught));
  if (output.status == 0) return {};
  return fail(
      fmt::format("`systemctl --user enable --now {}` failed:\n{}", unit, safe_text(output.text)));
}

}  // namespace cellblock::cli
