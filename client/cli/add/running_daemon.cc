#include "client/cli/add/running_daemon.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "client/cli/programs/daemon_program.h"
#include "client/cli/programs/installation.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

using Words = std::vector<std::string>;

std::string start_advice(const AddPlaces& places) {
  return places.mode == Mode::user
             ? "no cellblockd of yours runs: `systemctl --user enable --now cellblock.socket`, or "
               "`cellblockd --user`"
             : "no cellblockd runs: `systemctl enable --now cellblock.socket`, or `cellblockd`";
}

// The command, and which daemon it is about.
Words own_words(const Context& context, const AddPlaces& places) {
  if (places.mode == Mode::user) return {own_installation().command, "--user"};
  return {own_installation().command, "--socket", context.socket};
}

}  // namespace

// What is left out of it for another's fault was so before.
Result<void> check_configuration(const Context& context, const AddPlaces& places,
                                 const std::string& server) {
  auto words = daemon_words(context, places.main_file);
  words.emplace_back("--check");
  const auto output = CELLBLOCK_TRY(output_of(words, Errors::caught));
  const bool is_broken = output.text.find(": broken: server." + server + ".") != std::string::npos;
  const bool is_usable = output.status == 0 || output.status == static_cast<int>(Exit::left_out);
  if (is_usable && !is_broken) return {};
  return fail(fmt::format("the configuration is not usable with it, so nothing was changed:\n{}",
                          safe_text(output.text)));
}

void forget_pins(const Context& context, const AddPlaces& places, const std::string& server) {
  if (places.mode != Mode::user || !client::connect_blocking(context.socket)) return;
  auto words = own_words(context, places);
  words.insert(words.end(), {"forget", server});
  static_cast<void>(output_of(words, Errors::caught));
}

void stop_cells(const Context& context, const AddPlaces& places, const std::string& server) {
  if (places.mode != Mode::user || !client::connect_blocking(context.socket)) return;
  auto words = own_words(context, places);
  words.insert(words.end(), {"stop", server});
  static_cast<void>(output_of(words, Errors::caught));
}

Result<void> clear_home(const Context& context, const AddPlaces& places,
                        const std::string& server) {
  if (places.mode == Mode::system) {
    return fail(
        fmt::format("each user has a home of its own there: `cellblock stop {0} --for "
                    "USER`, `cellblock home clear {0} --for USER`, and remove it then",
                    server));
  }
  if (!client::connect_blocking(context.socket)) {
    return fail("its home is not removed without a daemon: " + start_advice(places));
  }
  for (const auto& command : {Words{"stop", server}, Words{"home", "clear", server}}) {
    auto words = own_words(context, places);
    words.insert(words.end(), command.begin(), command.end());
    const auto output = CELLBLOCK_TRY(output_of(words, Errors::caught));
    if (output.status != 0) return fail(safe_text(output.text));
  }
  return {};
}

ReloadOutcome reload_outcome(const Result<ProgramOutput>& output) {
  if (output && output->status == 0) return {.words = "the daemon has reloaded its configuration"};
  return {.words = fmt::format(
              "the daemon could not reload, and goes on with the configuration from before: put "
              "right what it says, then `cellblock reload`:\n{}",
              output ? safe_text(output->text) : output.error().text),
          .is_failed = true};
}

ReloadOutcome reload_daemon(const Context& context, const AddPlaces& places) {
  if (!client::connect_blocking(context.socket)) return {.words = start_advice(places)};
  auto words = own_words(context, places);
  words.insert(words.end(), {"reload", "--config", places.main_file});
  return reload_outcome(output_of(words, Errors::caught));
}

}  // namespace cellblock::cli
