#include "tests/containment/cell_runner.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "supervisor/launcher/child/attached_record.h"
#include "supervisor/launcher/run/cell_factory.h"
#include "supervisor/launcher/run/cells.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

constexpr std::uint32_t user = 1234;
constexpr std::uint32_t tested = 0;
constexpr std::uint32_t neighbour = 1;

Config config_for(const harness::TestDirectory& directory, const CellSpec& spec) {
  const Ids ids = ids_here();
  Config config;
  config.identity = {
      .uid = ids.daemon, .gid = ids.daemon, .first_cell_id = ids.first_cell, .cell_ids = ids.cells};
  config.kernel.landlock_abi = landlock_here();
  config.state_directory = directory.make_directory("state", 0700);
  config.cgroup = spec.cgroup;
  config.servers = {spec.server};
  Server other;
  other.name = "neighbour";
  other.command = {"/bin/cat"};  // until the end of its input
  other.environment = spec.neighbour;
  config.servers.push_back(other);
  return config;
}

Result<launcher::CellFactory> prepare(const Config& config, const CellSpec& spec) {
  Secrets values{.servers = std::vector<ServerSecrets>(config.servers.size())};
  values.servers[tested].values = spec.secrets;
  Fd secrets = CELLBLOCK_TRY(make_sealed("secrets", encode(values)));
  Fd own;
  if (spec.groups >= 0) own = CELLBLOCK_TRY(duplicate(spec.groups));
  return launcher::CellFactory::prepare(config, std::move(secrets), {}, std::move(own), Fd());
}

/// As a gateway passes it on; without a path when it could not.
launcher::PassedDirectory pass_on(int descriptor) {
  auto channel = make_seqpacket_pair();
  const std::array<int, 1> fds{descriptor};
  if (!channel || !send_record(channel->second.get(), wire::GatewayRequest{}, fds)) return {};
  const auto child = launcher::receive_attached_in_child(channel->first.get());
  launcher::AttachedRecord record;
  if (!child || !receive_record(child->line.get(), record)) return {};
  ::waitpid(child->pid, nullptr, 0);
  return record.directory();
}

std::string read_available(int pipe) {
  std::string text(65'536, '\0');
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  const ssize_t count = ::read(pipe, text.data(), text.size());
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// The events of the cells of one run, in the launcher's own loop.
class Run {
 public:
  Run(launcher::EventLoop& loop, launcher::CellFactory& factory, const CellSpec& spec)
      : loop_(loop), factory_(factory), spec_(spec), cells_(loop) {}

  SysResult<void> start_neighbour() {
    auto started = factory_.start_server(neighbour, {user, spec_.user_name});
    if (!started) return std::unexpected(SysError{"the neighbour", started.error().error});
    neighbour_stdio_ = std::move(started->stdio);
    CELLBLOCK_CHECK(
        cells_.add(std::move(started->cell), {[this] { start_tested(); }, stop_if_last()}));
    return {};
  }

  void start_tested() {
    const bool passed = spec_.workspace >= 0;
    const auto workspace = passed ? pass_on(spec_.workspace) : launcher::PassedDirectory{};
    auto started = factory_.start_server(tested, {user, spec_.user_name}, wire::CellProgram::server,
                                         passed ? &workspace : nullptr);
    if (!started) return finish(started.error().facts());
    stdio_ = std::move(started->stdio);
    const auto added =
        cells_.add(std::move(started->cell),
                   {[this] { running(); }, [this](const CellFacts& ended) { finish(ended); }});
    if (!added) return loop_.stop();
    cell_ = *added;
  }

  CellFacts facts;
  std::string output;
  std::string note;
  bool neighbour_lived = false;

 private:
  void running() {
    if (spec_.when_running) note = spec_.when_running(cells_, cell_);
  }

  void finish(const CellFacts& ended) {
    facts = ended;
    neighbour_lived = !cells_.empty();
    if (stdio_.output.valid()) output = read_available(stdio_.output.get());
    cells_.kill_all();
    if (cells_.empty()) loop_.stop();
  }

  std::function<void(const CellFacts&)> stop_if_last() {
    return [this](const CellFacts&) {
      if (cells_.empty()) loop_.stop();
    };
  }

  launcher::EventLoop& loop_;
  launcher::CellFactory& factory_;
  const CellSpec& spec_;
  launcher::Cells cells_;
  std::uint64_t cell_ = 0;
  launcher::StdioEnds stdio_;
  launcher::StdioEnds neighbour_stdio_;
};

Result<CellRun> run_here(const harness::TestDirectory& directory, const CellSpec& spec) {
  auto factory = CELLBLOCK_TRY(prepare(config_for(directory, spec), spec));
  auto loop = CELLBLOCK_TRY(launcher::EventLoop::make());
  Run run(loop, factory, spec);
  if (spec.neighbour.empty()) {
    run.start_tested();
  } else {
    CELLBLOCK_CHECK(run.start_neighbour());
  }
  CELLBLOCK_CHECK(loop.run());
  return CellRun{run.facts, run.output, run.note, run.neighbour_lived, ""};
}

/// What the launcher sends home, before the note and the output.
struct Words {
  CellFacts facts;
  bool neighbour_lived = false;
  std::size_t note_size = 0;
};

int report(int output, const Result<CellRun>& run) {
  if (!run) return write_all(output, run.error().text) ? 1 : 2;
  const Words words{run->facts, run->neighbour_lived, run->note.size()};
  const std::string_view head(reinterpret_cast<const char*>(&words), sizeof words);
  return write_all(output, head) && write_all(output, run->note + run->output) ? 0 : 2;
}

}  // namespace

CellRun run_in_cell(const harness::TestDirectory& directory, const CellSpec& spec) {
  const ChildResult result = run_as_launcher([&](int output) {
    if (spec.in_launcher) spec.in_launcher();
    return report(output, run_here(directory, spec));
  });
  CellRun run;
  Words words;
  if (result.end != "exit 0" || result.output.size() < sizeof words) {
    run.trouble = result.end + ": " + result.output;
    return run;
  }
  std::memcpy(&words, result.output.data(), sizeof words);
  run.facts = words.facts;
  run.neighbour_lived = words.neighbour_lived;
  run.note = result.output.substr(sizeof words, words.note_size);
  run.output = result.output.substr(sizeof words + words.note_size);
  return run;
}

}  // namespace cellblock::containment
