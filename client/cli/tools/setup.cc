#include "client/cli/tool_rows/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/add/added_files.h"
#include "client/cli/common/context.h"
#include "client/cli/common/prompt.h"
#include "client/cli/install/places.h"
#include "client/cli/install/program_output.h"
#include "client/cli/programs/installation.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/setup/host_servers.h"
#include "client/cli/setup/setup_plan.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"
#include "client/connection/unix_connect.h"
#include "policy/base/result.h"

// A new user's way from nothing to servers that hosts use, by the commands that do each step.
namespace cellblock::cli {
namespace {

struct Setup {
  Context context;  ///< of the user's own daemon
  std::string home;
  bool agrees = false;  ///< to everything, without being asked
  const Interruption& interruption;

  bool wants(const std::string& question) const {
    return agrees || cellblock::cli::agrees(interruption, question);
  }
  bool is_stopped() const { return interruption.token().stop_requested(); }
};

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  constexpr int of_signals = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : of_signals + WTERMSIG(status);
}

// `cellblock` with these words, at this terminal and in the user's home: a project's files are not
// the user's.
int run_command(const Setup& setup, std::vector<std::string> words) {
  words.insert(words.begin(), own_installation().command);
  const auto process = start_program(
      {.words = std::move(words), .directory = setup.home, .input = ProgramInput::ours});
  if (process) return status_of(*process);
  static_cast<void>(cannot(setup.context, process.error().text));
  return static_cast<int>(Exit::error);
}

void tell_step(const Setup& setup, const char* what) {
  tell(setup.context, fmt::format("--- {}", what));
}

Result<void> look_at_machine(const Setup& setup) {
  tell_step(setup, "what this machine can (cellblock doctor)");
  if (machine_has_cells(run_command(setup, {"--user", "doctor"}))) return {};
  return fail("no cell runs here yet: the commands above mend it; then `cellblock setup` again");
}

// The daemon does not start without one.
Result<void> make_configuration(const Setup& setup) {
  const auto places = places_of(setup.context, Mode::user);
  std::error_code ignored;
  if (std::filesystem::exists(places.main_file, ignored)) return {};
  const auto question =
      fmt::format("cellblockd needs {}: make one that declares nothing?", places.main_file);
  if (!setup.wants(question)) return {};
  AddedFiles files(places);
  CELLBLOCK_CHECK(files.make_main_file());
  files.keep();
  return {};
}

// The user's own cellblockd, as a service of systemd.

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

ServiceFacts service_facts(const Context& context) {
  ServiceFacts facts{.serves = !daemon_fault(context), .has_manager = has_user_manager()};
  facts.has_unit = !facts.serves && facts.has_manager && knows_unit();
  return facts;
}

// Starts its socket, now and with each login.
Result<void> enable_service() {
  const auto output =
      CELLBLOCK_TRY(output_of({"systemctl", "--user", "enable", "--now", unit}, Errors::caught));
  if (output.status == 0) return {};
  return fail(
      fmt::format("`systemctl --user enable --now {}` failed:\n{}", unit, safe_text(output.text)));
}

// Without a daemon servers are added all the same.
Result<void> start_service(const Setup& setup) {
  tell_step(setup, "your service");
  const auto step = service_step(service_facts(setup.context));
  if (step == ServiceStep::nothing) {
    tell(setup.context, "cellblockd serves you already");
    return {};
  }
  if (step != ServiceStep::enable) {
    tell(setup.context, service_advice(step));
    return make_configuration(setup);
  }
  if (!setup.wants("Start cellblock for you, now and with each login?")) return {};
  CELLBLOCK_CHECK(make_configuration(setup));
  CELLBLOCK_CHECK(enable_service());
  tell(setup.context, "cellblock.socket is enabled");
  return {};
}

// What one lacks keeps none of the others out. False: some of what was agreed to was not added.
bool add_servers(const Setup& setup) {
  tell_step(setup, "the servers of your hosts");
  if (const auto declared = declared_servers_of(setup.context); !declared.empty()) {
    tell(setup.context, fmt::format("cellblock has {}", fmt::join(declared, ", ")));
  }
  const auto found = servers_of_hosts(setup.context, setup.home);
  const bool lacks_none =
      std::ranges::all_of(found, [](const auto& one) { return one.names.empty(); });
  if (lacks_none) tell(setup.context, "no host here has a server that cellblock lacks");
  bool are_added = true;
  for (const auto& servers : found) {
    if (!servers.present.empty()) tell(setup.context, present_line(servers));
    if (servers.names.empty()) continue;
    tell(setup.context, host_line(servers));
    const bool is_wanted = setup.wants("Add these, each in a cell of its own?");
    if (setup.is_stopped()) return false;
    if (is_wanted && run_command(setup, import_words(servers.file, setup.agrees)) != 0) {
      are_added = false;
    }
  }
  return are_added;
}

void connect_to_hosts(const Setup& setup) {
  const bool has_servers = !declared_servers_of(setup.context).empty();
  if (!has_servers || !has_host_files(setup.home)) return;
  tell_step(setup, "hosts that start servers through cellblock");
  run_command(setup, connect_words(setup.agrees));
}

Exit ask_a_server(const Setup& setup) {
  const auto servers = declared_servers_of(setup.context);
  if (servers.empty()) {
    tell(setup.context,
         "no server yet: `cellblock add files -- npx -y @modelcontextprotocol/server-filesystem "
         "~/project` adds one");
    return Exit::ok;
  }
  tell_step(setup, "a server that answers");
  int last = 0;
  for (const auto& server : servers) {
    if (setup.is_stopped()) return Exit::error;
    last = run_command(setup, {"--user", "tools", server});
    if (last != 0) continue;
    tell(setup.context, fmt::format("\"{}\" answers, from its cell", server));
    return Exit::ok;
  }
  return last == static_cast<int>(Exit::unreachable) ? Exit::unreachable : Exit::error;
}

Exit carry_out_setup(const Setup& setup) {
  const auto machine = look_at_machine(setup);
  if (!machine) return cannot(setup.context, machine.error().text);
  if (setup.is_stopped()) return Exit::error;
  const auto service = start_service(setup);
  if (!service) return cannot(setup.context, service.error().text);
  const bool are_added = !setup.is_stopped() && add_servers(setup);
  if (!setup.is_stopped()) connect_to_hosts(setup);
  if (setup.is_stopped()) return Exit::error;
  const auto answers = ask_a_server(setup);
  if (are_added || answers != Exit::ok) return answers;
  return cannot(setup.context, "not all servers were added: see above why");
}

// Empty: nothing.
std::string obstacle_to_setup(const Context& context, bool agrees) {
  if (::geteuid() == 0 || context.mode == Mode::system) {
    return "it sets your own cellblock up, as an ordinary user. The system's: `systemctl enable "
           "--now cellblock.socket`, then `cellblock add` as root";
  }
  if (context.output == Output::json) {
    return "setup asks questions and has no --json; the commands that it runs have it";
  }
  if (client::user_socket_path().empty()) {
    return "XDG_RUNTIME_DIR is not set, so there is no place for your socket: log in by a session, "
           "or "
           "see `cellblock doctor`";
  }
  return agrees || can_ask(context) ? std::string() : nobody_to_ask;
}

}  // namespace

Exit run_setup(const Context& asked, const Words& words) {
  const bool agrees_to_all = words.has(setup_without_asking);
  if (const auto why = obstacle_to_setup(asked, agrees_to_all); !why.empty()) {
    return cannot(asked, why);
  }
  const Interruption interruption;
  Context context = asked;
  context.mode = Mode::user;
  context.socket = client::user_socket_path();
  context.daemon = context.socket;
  return carry_out_setup({.context = context,
                          .home = environment_variable("HOME"),
                          .agrees = agrees_to_all,
                          .interruption = interruption});
}

}  // namespace cellblock::cli
