#include "client/cli/add/running_daemon.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "client/cli/add/program_output.h"
#include "client/cli/common/daemon_program.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

std::string start_advice(const AddPlaces& places) {
  return places.mode == Mode::user
             ? "no cellblockd of yours runs: `systemctl --user enable --now cellblock.socket`, or "
               "`cellblockd --user`"
             : "no cellblockd runs: `systemctl enable --now cellblock.socket`, or `cellblockd`";
}

}  // namespace

Result<void> check_configuration(const Context& context, const AddPlaces& places) {
  auto words = daemon_words(context, places.main_file);
  words.emplace_back("--check");
  const auto output = CELLBLOCK_TRY(output_of(words, Errors::caught));
  if (output.status == 0) return {};
  return fail(fmt::format("the configuration is not usable with it, so nothing was changed:\n{}",
                          safe_text(output.text)));
}

std::string reload_daemon(const Context& context, const AddPlaces& places) {
  if (!client::connect_blocking(context.socket)) return start_advice(places);
  std::vector<std::string> words{own_program()};
  if (places.mode == Mode::user) {
    words.emplace_back("--user");
  } else {
    words.insert(words.end(), {"--socket", context.socket});
  }
  words.insert(words.end(), {"reload", "--config", places.main_file});
  const auto output = output_of(words, Errors::caught);
  if (output && output->status == 0) return "the daemon has reloaded its configuration";
  return fmt::format("the daemon could not reload: {}",
                     output ? safe_text(output->text) : output.error().text);
}

}  // namespace cellblock::cli
