#include "client/cli/doctor/cell_trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stop_token>
#include <system_error>
#include <vector>

#include "client/cli/common/prompt.h"
#include "client/cli/install/places.h"
#include "client/cli/install/private_daemon.h"
#include "client/cli/install/scratch.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> places_for(TrialOf whose) {
  if (whose == TrialOf::root) return {"/run", "/tmp"};
  std::error_code error;
  const auto usual = fs::temp_directory_path(error);
  return {error ? "/tmp" : usual.string()};
}

// By a descriptor, which no link leads elsewhere.
bool open_to_pass_through(const std::string& path) {
  constexpr mode_t passed_through = 0711;  // by the launcher, in system mode
  const client::OwnedFd directory(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return directory.valid() && ::fchmod(directory.get(), passed_through) == 0;
}

std::unexpected<Error> no_trial_at(const std::string& path, int error) {
  return fail(fmt::format("{}: {}", safe_line(path), std::generic_category().message(error)));
}

}  // namespace

Result<TrialDirectory> TrialDirectory::make(TrialOf whose) {
  std::string path;
  int error = 0;
  for (const auto& place : places_for(whose)) {
    path = place + "/cellblock-doctor-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      error = errno;
      continue;
    }
    TrialDirectory made(path);
    if (open_to_pass_through(path)) return made;
    return no_trial_at(path, errno);
  }
  return no_trial_at(path, error);
}

TrialDirectory::~TrialDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

constexpr std::chrono::seconds longest_trial{60};
constexpr const char* tried_server = "doctor";

// The probe runs in its place: the command is never started.
std::string trial_toml(const std::string& daemon) {
  return fmt::format(
      "{}\n[server.{}]\ncommand = [\"/bin/true\"]\nhome = \"temporary\"\n"
      "allow = {{ users = [{}], tools = [\"*\"] }}\n",
      daemon, tried_server, ::getuid());
}

client::Result<void> answer_of_probe(const PrivateDaemon& daemon) {
  const client::AttachOptions with{.program = client::CellProgram::probe};
  CELLBLOCK_CHECK(open_server(daemon.context(), tried_server, with, longest_trial));
  return {};
}

Result<void> try_cell(const Context& context, const std::stop_token& stop) {
  const auto places = CELLBLOCK_TRY(add_places(context));
  const auto group = CELLBLOCK_TRY(daemon_group(places));
  const auto parent =
      CELLBLOCK_TRY(TrialDirectory::make(::geteuid() == 0 ? TrialOf::root : TrialOf::user));
  const auto scratch = CELLBLOCK_TRY(Scratch::make(parent.path(), group));
  const auto toml = CELLBLOCK_TRY(private_daemon_toml(places, scratch.root()));
  const auto daemon = CELLBLOCK_TRY(PrivateDaemon::start(context, scratch, trial_toml(toml), stop));
  const auto answered = answer_of_probe(daemon);
  return answered ? Result<void>() : fail(answered.error().text);
}

// A daemon that could not start has said more than one line.
std::string on_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    text.replace(at, 1, text[at - (at > 0 ? 1 : 0)] == ':' ? " " : "; ");
  }
  return text;
}

}  // namespace

DoctorFinding cell_finding(const Context& context) {
  const Interruption interruption;
  const auto tried = try_cell(context, interruption.token());
  if (tried) {
    return {.check = "a cell",
            .need = NeededFor::cells,
            .says = "cellblock's probe has answered from inside one"};
  }
  return {.check = "a cell",
          .grade = Grade::missing,
          .need = NeededFor::cells,
          .says = on_one_line(tried.error().text),
          .remedy = {"cellblock errors server_failed (what each step of a cell's start needs)"}};
}

DoctorFinding untried_cell() {
  return {.check = "a cell",
          .grade = Grade::untried,
          .need = NeededFor::cells,
          .says = "none was tried: that needs root",
          .remedy = {"sudo cellblock --system doctor"}};
}

}  // namespace cellblock::cli
