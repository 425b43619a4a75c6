#include "tests/bench/spawn_subjects.h"

#include <linux/landlock.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "policy/config/config_bytes.h"
#include "supervisor/launcher/run/cell_factory.h"
#include "supervisor/launcher/run/cells.h"
#include "tests/containment/launcher_process.h"
#include "tests/integration/test_directory.h"

namespace cellblock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t user = 1234;
constexpr std::uint32_t server_index = 0;

// In the child; the other end's closing is the end.
void answer_each(int turns, int answers, const RunOnce& run, const Idle& idle) {
  char turn = 0;
  while (read(turns, &turn, 1) == 1) {
    const Nanoseconds taken = run();
    if (write(answers, &taken, sizeof taken) != sizeof taken) return;
    idle();
  }
}

Nanoseconds spawn_and_wait(const std::vector<char*>& argv) {
  char* no_environment = nullptr;
  const auto start = Clock::now();
  pid_t pid = -1;
  if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), &no_environment) != 0) {
    throw std::runtime_error(std::string("cannot start ") + argv[0]);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) {
    throw std::runtime_error(std::string(argv[0]) + " failed");
  }
  return Clock::now() - start;
}

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  return std::move(*result);
}

Config config_of_one_server(const harness::TestDirectory& directory) {
  const containment::Ids ids = containment::ids_here();
  Config config;
  config.identity = {
      .uid = ids.daemon, .gid = ids.daemon, .first_cell_id = ids.first_cell, .cell_ids = ids.cells};
  config.state_directory = directory.make_directory("state", 0700);
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  config.kernel.landlock_abi = abi < 0 ? 0 : static_cast<std::uint32_t>(abi);
  Server server;
  server.name = "true";
  server.command = {"/bin/true"};
  config.servers.push_back(server);
  return config;
}

launcher::CellFactory prepare(const Config& config) {
  const Secrets none{.servers = std::vector<ServerSecrets>(config.servers.size())};
  auto secrets = make_sealed("secrets", encode(none));
  if (!secrets) throw std::runtime_error(secrets.error().text());
  return value_of(launcher::CellFactory::prepare(config, std::move(*secrets), {}, Fd(), Fd()));
}

void require_good_end(const CellFacts& facts) {
  if (facts.kind == EndKind::exited && facts.exit_code == 0) return;
  throw std::runtime_error("the cell failed at step " + std::string(name_of(facts.step)) +
                           ", errno " + std::to_string(facts.error));
}

Nanoseconds start_cell_and_wait(launcher::CellFactory& factory) {
  auto loop = launcher::EventLoop::make();
  if (!loop) throw std::runtime_error(loop.error().text());
  launcher::Cells cells(*loop);
  CellFacts end;
  const auto start = Clock::now();
  auto started = factory.start_server(server_index, {user, ""});
  if (!started) require_good_end(started.error().facts());
  const auto added = cells.add(std::move(started->cell), {[] {},
                                                          [&](const CellFacts& facts) {
                                                            end = facts;
                                                            loop->stop();
                                                          }});
  if (!added || !loop->run()) throw std::runtime_error("cannot watch the cell");
  const Nanoseconds taken = Clock::now() - start;
  require_good_end(end);
  return taken;
}

// As the launcher's event loop does while it has nothing else to do.
void refill(launcher::NetworkPool& networks) {
  constexpr int idle_milliseconds = 10;
  pollfd timer{networks.timer(), POLLIN, 0};
  while (poll(&timer, 1, idle_milliseconds) == 1) networks.refill();
}

int serve_cells(const Config& config, Networks networks, const AnswerTurns& answer_turns) {
  auto factory = prepare(config);
  answer_turns([&] { return start_cell_and_wait(factory); },
               [&] {
                 if (networks == Networks::made_ahead) refill(factory.networks());
               });
  return 0;
}

// A process that cannot go on says why; its turn then gets no answer.
template <class Body>
int told(Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s\n", error.what()));
    return 1;
  }
}

}  // namespace

SpawnSubject::SpawnSubject(std::string name, const Serve& serve) : name_(std::move(name)) {
  auto turns = make_pipe();
  auto answers = make_pipe();
  if (!turns || !answers) throw std::runtime_error("no pipes");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    turns->second.reset();
    _exit(told([&] {
      serve([&](const RunOnce& run, const Idle& idle) {
        answer_each(turns->first.get(), answers->second.get(), run, idle);
      });
      return 0;
    }));
  }
  turns_ = std::move(turns->second);
  answers_ = std::move(answers->first);
}

Nanoseconds SpawnSubject::run() const {
  Nanoseconds taken{};
  if (write(turns_.get(), "t", 1) != 1 ||
      read(answers_.get(), &taken, sizeof taken) != sizeof taken) {
    throw std::runtime_error(name_ + " gave no answer");
  }
  return taken;
}

SpawnSubject directly(std::string name, const std::vector<std::string>& command) {
  return {std::move(name), [&](const AnswerTurns& answer_turns) {
            std::vector<char*> argv;
            for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
            argv.push_back(nullptr);
            answer_turns([&] { return spawn_and_wait(argv); }, [] {});
          }};
}

SpawnSubject in_a_cell(std::string name, Networks networks) {
  return {std::move(name), [networks](const AnswerTurns& answer_turns) {
            const harness::TestDirectory directory(containment::ids_here().daemon);
            const Config config = config_of_one_server(directory);
            const auto end = containment::run_as_launcher([&](int) {
              return told([&] { return serve_cells(config, networks, answer_turns); });
            });
            if (end.end != "exit 0") throw std::runtime_error(end.end + ": " + end.output);
          }};
}

}  // namespace cellblock::bench
