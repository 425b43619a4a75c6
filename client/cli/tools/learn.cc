#include "client/cli/tool_rows/learn.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/learn/learned_toml.h"
#include "client/cli/learn/session_command.h"
#include "client/cli/learn/watched_server.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"
#include "client/connection/fd.h"
#include "policy/base/result.h"
#include "policy/egress/egress_rule.h"

// What a server's declaration lacks, learned while it is used.
namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds watch_pause{250};
// A cell ends after its session, and its egress helper may have a last word a second later.
constexpr int end_polls = 20;
constexpr milliseconds last_words{1500};

/// Ctrl-C and SIGTERM do not end us while it lives, but can be read.
class Interrupts {
 public:
  Interrupts() {
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGINT);
    sigaddset(&asked, SIGTERM);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    sigprocmask(SIG_BLOCK, &asked, &before_);
    signals_ = client::OwnedFd(::signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  ~Interrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return signals_.get(); }

  /// 0: there was none.
  int next() const {
    signalfd_siginfo told{};
    const auto size = ::read(signals_.get(), &told, sizeof told);
    return size == sizeof told ? static_cast<int>(told.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  client::OwnedFd signals_;
};

/// True: the session wrote something.
bool wait_for(int signals, int output) {
  std::array<pollfd, 2> sources{pollfd{signals, POLLIN, 0}, pollfd{output, POLLIN, 0}};
  const int ready = ::poll(sources.data(), sources.size(), static_cast<int>(watch_pause.count()));
  return ready > 0 && sources[1].revents != 0;
}

/// False: that is the end. A session is ended by itself: of Ctrl-C the terminal tells it too.
bool goes_on_after(int signal, const SessionCommand* session) {
  if (signal == 0) return true;
  if (session == nullptr) return false;
  if (signal == SIGTERM) session->terminate();
  return true;
}

/// Hands on what the session writes. False: it has ended.
bool read_output(int output, SessionLines& lines, Observed& observed) {
  std::array<char, 8192> bytes{};
  const auto count = ::read(output, bytes.data(), bytes.size());
  if (count < 0) return errno == EINTR;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  lines.add(text, [&](std::string_view line) { observed.said(Speaker::session, line); });
  return count > 0;
}

client::Result<void> watch(WatchedServer& server, const SessionCommand* session,
                           Observed& observed) {
  const Interrupts interrupts;
  const int output = session == nullptr ? -1 : session->output();
  SessionLines lines;
  auto due = Clock::now() + watch_pause;
  while (true) {
    const bool wrote = wait_for(interrupts.descriptor(), output);
    if (!goes_on_after(interrupts.next(), session)) return {};
    if (wrote && !read_output(output, lines, observed)) return {};
    if (Clock::now() < due) continue;
    CELLBLOCK_CHECK(server.read_on(observed));
    due = Clock::now() + watch_pause;
  }
}

// A cell that others use, or that is kept for the next session, is not waited for for long.
client::Result<void> watch_end(WatchedServer& server, Observed& observed) {
  for (int polls = 0; polls < end_polls; ++polls) {
    const auto state = CELLBLOCK_TRY(server.state());
    if (state.cells == 0) break;
    server.wait(watch_pause);
  }
  server.wait(last_words);
  CELLBLOCK_CHECK(server.read_on(observed));
  return server.read_refusals(observed);
}

// One that is declared and refused has nobody who listens, and one that check refuses is no advice.
std::vector<MissedPort> undeclared_ports(std::vector<MissedPort> missed,
                                         const std::vector<std::string>& rules) {
  std::erase_if(missed, [&rules](const MissedPort& one) {
    const auto proposal = propose_egress_rule(fmt::format("127.0.0.1:{}", one.port));
    return proposal.rule.empty() || std::ranges::find(rules, proposal.rule) != rules.end();
  });
  return missed;
}

client::Result<Learned> learn(WatchedServer& server, const std::string& name,
                              const SessionCommand* session) {
  Observed observed;
  CELLBLOCK_CHECK(watch(server, session, observed));
  CELLBLOCK_CHECK(watch_end(server, observed));
  const auto state = CELLBLOCK_TRY(server.state());
  return Learned{.server = name,
                 .paths = learned_paths(observed.paths(), state.declared, this_machine().kind_of),
                 .operations = observed.operations(),
                 .left_out = observed.left_out(),
                 .network = state.network,
                 .loopback_ports = undeclared_ports(observed.loopback_ports(), state.egress)};
}

Exit cannot(const std::string& why) {
  fmt::print(stderr, "cellblock: {}\n", safe_text(why));
  return Exit::error;
}

Exit hand_out(const Context& context, const std::string& output, const Learned& learned) {
  const std::string toml = learned_toml(learned);
  if (!output.empty()) {
    const auto written = write_new_file(output, toml);
    if (!written) return cannot(written.error().text);
  }
  if (context.output == Output::json) {
    return print_json(dumped(Json{{"toml", toml}, {"advises", has_advice(learned)}}));
  }
  if (output.empty()) fmt::print("{}", toml);
  return Exit::ok;
}

void say_that_it_watches(const std::string& server) {
  fmt::print(stderr,
             "cellblock: watching \"{}\"; use it from your host, then end this with Ctrl-C\n",
             safe_line(server));
}

}  // namespace

Exit run_learn(const Context& context, const Words& words) {
  const auto name = words.text(server_name);
  auto server = WatchedServer::open(context, name);
  if (!server) return explain(context, server.error());
  std::optional<SessionCommand> session;
  const auto command = words.all(session_words);
  if (command.empty()) {
    say_that_it_watches(name);
  } else {
    auto started = SessionCommand::start(command, context.socket);
    if (!started) return cannot(started.error().text);
    session = std::move(*started);
  }
  const auto learned = learn(*server, name, session ? &*session : nullptr);
  const std::string failed = session ? session->wait() : std::string();
  if (!failed.empty()) fmt::print(stderr, "cellblock: the session {}\n", failed);
  return learned ? hand_out(context, words.text(output_file), *learned)
                 : explain(context, learned.error());
}

}  // namespace cellblock::cli
