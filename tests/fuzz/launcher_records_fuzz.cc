#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/run/launcher.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/launcher_seam.h"

// A whole life of the launcher, with cells that only stand for some: what the supervisor, gateways
// and the processes in cells send comes from the input, one record at a time between the launcher's
// own turns.
namespace {

using namespace cellblock;        // NOLINT(google-build-using-namespace)
using namespace cellblock::fuzz;  // NOLINT(google-build-using-namespace)
using launcher::ChildReport;
using launcher::EventLoop;
using launcher::Launcher;
using wire::CellEventKind;
using wire::SupervisorRequestKind;

constexpr std::uint32_t users = 3;

/// Of this thread: the sanitizer's symbolizer may be one.
std::set<pid_t> children() {
  std::ifstream list("/proc/thread-self/children");
  CELLBLOCK_FUZZ_CHECK(list.is_open());
  return {std::istream_iterator<pid_t>(list), {}};
}

class Life {
 public:
  explicit Life(Input& input)
      : input_(input), loop_(*EventLoop::make()), pair_(*make_seqpacket_pair()) {
    stage() = {};
    turns_ = Fd(::eventfd(1, EFD_CLOEXEC));
  }
  ~Life() {
    stage() = {};
    pair_ = {};
    // Those that received, buried or looked at a home: nothing keeps them any more.
    for (const pid_t child : children()) {
      if (!children_before_.contains(child)) ::waitpid(child, nullptr, 0);
    }
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  void run() {
    Launcher made(loop_, stand_in_factory(), std::move(pair_.first),
                  make_sealed("config", encode(small_config())).value());
    launcher_ = &made;
    CELLBLOCK_FUZZ_CHECK(made.start().has_value());
    CELLBLOCK_FUZZ_CHECK(loop_.watch_input(turns_.get(), [this] { turn(); }).has_value());
    CELLBLOCK_FUZZ_CHECK(loop_.run().has_value());
    read_reports();
    for (std::size_t i = 0; i < stage().gateways.size(); ++i) read_events(i);
    // Gateways and cells cannot end the launcher; only its supervisor can.
    CELLBLOCK_FUZZ_CHECK(made.failure().empty() || supervisor_offends_);
  }

 private:
  void turn() {
    if (input_.at_end() || ++steps_ > 200 || !made_room()) {
      loop_.forget(turns_.get());
      return launcher_->shut_down();
    }
    switch (input_.choice(16)) {
      case 0:
      case 1:
      case 2:
        return say_as_supervisor();
      case 3:
        return say_nonsense_as_supervisor();
      case 4:
      case 5:
      case 6:
      case 7:
        return ask_as_gateway(false);
      case 8:
        return ask_as_gateway(true);
      case 9:
        return say_nonsense_as_gateway();
      case 10:
        if (!stage().gateways.empty()) {
          stage().gateways[some(stage().gateways.size())].channel.reset();
        }
        return;
      case 11:
      case 12:
        return act_in_cell();
      case 13:
        stage().failing_starts = input_.choice(2);
        return;
      case 14:
        read_reports();
        for (std::size_t i = 0; i < stage().gateways.size(); ++i) read_events(i);
        return;
      default:
        return;  // the launcher has its turn
    }
  }

  static bool made_room() { return stage().cells.size() < 200 && open_descriptors() < 900; }
  std::size_t some(std::size_t count) { return input_.byte() % count; }

  std::size_t fds_for(SupervisorRequestKind kind) const {
    switch (kind) {
      case SupervisorRequestKind::start_gateway:
        return 3;  // with a page for metrics
      case SupervisorRequestKind::start_audit:
      case SupervisorRequestKind::reload:
        return 4;
      case SupervisorRequestKind::start_http:
      case SupervisorRequestKind::start_metrics:
        return 2;
      default:
        return 0;
    }
  }

  std::vector<Planned> descriptors(SupervisorRequestKind kind) {
    std::vector<Planned> plan;
    for (std::size_t i = 0; i < fds_for(kind); ++i) {
      plan.push_back({Kind::record_socket, make_descriptor(Kind::record_socket)});
    }
    if (kind == SupervisorRequestKind::reload) {
      Config config = small_config();
      const unsigned bits = input_.byte();
      config.servers[0].enabled = (bits & 1U) == 0;
      config.servers[2].enabled = (bits & 2U) != 0;
      if ((bits & 4U) != 0) config.servers.push_back(config.servers[0]);
      if ((bits & 8U) != 0) config.servers.pop_back();
      if ((bits & 16U) != 0) config.http.reset();
      plan[0].fd = make_sealed("config", encode(config)).value();
    }
    return plan;
  }

  // Some that are right where they come, some that are not permitted then.
  void say_as_supervisor() {
    wire::SupervisorRequest request;
    request.kind = static_cast<SupervisorRequestKind>(1 + input_.choice(14));
    request.uid = input_.choice(users);
    const unsigned servers = input_.byte();
    for (unsigned i = 0; i < 8; ++i) {
      if ((servers >> i & 1U) != 0) request.servers.add(i);
    }
    if (input_.choice(4) == 0) {
      request.user_length = static_cast<std::uint8_t>(input_.choice(6));
      input_.fill(request.user, request.user_length);
    }
    auto plan = descriptors(request.kind);
    if (input_.choice(8) == 0) plan = planned_descriptors(input_);
    // Which of them the launcher takes depends on what it has come to.
    supervisor_offends_ = true;
    const std::string_view bytes(reinterpret_cast<const char*>(&request), sizeof request);
    if (!send_with(pair_.second.get(), bytes, plan)) return;
    if (request.kind == SupervisorRequestKind::permit ||
        request.kind == SupervisorRequestKind::permit_only ||
        request.kind == SupervisorRequestKind::start_gateway) {
      permitted_[request.uid].add(request.servers);
    }
  }

  void say_nonsense_as_supervisor() {
    if (input_.choice(4) != 0) return;
    const auto plan = planned_descriptors(input_);
    supervisor_offends_ = true;
    send_with(pair_.second.get(), input_.text(input_.number<std::uint16_t>() % 512), plan);
  }

  void ask_as_gateway(bool attached) {
    if (stage().gateways.empty()) return;
    const std::size_t which = some(stage().gateways.size());
    const Stage::Gateway& gateway = stage().gateways[which];
    if (!gateway.channel.valid()) return;
    wire::GatewayRequest request;
    request.kind = static_cast<wire::GatewayRequestKind>(1 + input_.choice(6));
    request.program = static_cast<wire::CellProgram>(input_.choice(4));
    request.home_action = static_cast<wire::HomeAction>(input_.choice(3));
    request.request = ++asked_;
    request.server_index = input_.choice(6);
    request.cell = input_.choice(16);
    std::vector<Planned> plan;
    if (attached) plan = planned_descriptors(input_);
    const std::string_view bytes(reinterpret_cast<const char*>(&request), sizeof request);
    if (send_with(gateway.channel.get(), bytes, plan)) {
      requests_[request.request] = {which, request};
    }
  }

  void say_nonsense_as_gateway() {
    if (stage().gateways.empty()) return;
    const Stage::Gateway& gateway = stage().gateways[some(stage().gateways.size())];
    if (!gateway.channel.valid()) return;
    const auto plan = planned_descriptors(input_);
    const std::size_t size = input_.byte();
    // One of the right size could have been asked for in the fuzzer's name.
    if (size != sizeof(wire::GatewayRequest)) {
      send_with(gateway.channel.get(), input_.text(size), plan);
    }
  }

  void act_in_cell() {
    if (stage().cells.empty()) return;
    StandIn& cell = stage().cells[some(stage().cells.size())];
    switch (input_.choice(6)) {
      case 0:
        cell.report.reset();  // its program runs
        return;
      case 1: {
        ChildReport report;
        input_.fill(report);
        const auto plan = planned_descriptors(input_);
        if (!cell.report.valid()) return;
        send_with(cell.report.get(), {reinterpret_cast<const char*>(&report), sizeof report}, plan);
        return;
      }
      case 2: {
        const std::string_view bytes = input_.text(input_.byte());
        if (cell.report.valid()) send_with(cell.report.get(), bytes, {});
        return;
      }
      case 3: {
        launcher::ServerEnding ending;
        input_.fill(ending);
        if (cell.ending.valid()) {
          static_cast<void>(::write(cell.ending.get(), &ending, sizeof ending));
          cell.ending.reset();
        }
        return;
      }
      default:
        // The launcher may have closed that pidfd; then this number is nobody's, or another's.
        if (cell.report.valid()) {
          syscall(SYS_pidfd_send_signal, cell.pidfd, SIGKILL, nullptr, 0);
        }
        return;
    }
  }

  /// Nobody is started whom nobody permitted, and nobody hears of another's cells.
  void check_event(std::size_t which, const wire::CellEvent& event, std::size_t fds) {
    const Stage::Gateway& gateway = stage().gateways[which];
    switch (event.kind) {
      case CellEventKind::started: {
        const auto asked = requests_.find(event.request);
        CELLBLOCK_FUZZ_CHECK(asked != requests_.end() && asked->second.first == which);
        const wire::GatewayRequest& request = asked->second.second;
        CELLBLOCK_FUZZ_CHECK(permitted_[gateway.user].contains(request.server_index));
        CELLBLOCK_FUZZ_CHECK(request.kind == wire::GatewayRequestKind::start_cell);
        CELLBLOCK_FUZZ_CHECK(fds == (request.server_index == 3 ? 4U : 3U));
        CELLBLOCK_FUZZ_CHECK(event.cell != 0 && all_cells_.insert(event.cell).second);
        cells_[which].insert(event.cell);
        return;
      }
      case CellEventKind::refused:
      case CellEventKind::home: {
        const auto asked = requests_.find(event.request);
        CELLBLOCK_FUZZ_CHECK(fds == 0 && asked != requests_.end() && asked->second.first == which);
        return;
      }
      case CellEventKind::running:
      case CellEventKind::ended:
      case CellEventKind::denied:
        CELLBLOCK_FUZZ_CHECK(fds == 0 && cells_[which].contains(event.cell));
        if (event.kind == CellEventKind::ended) cells_[which].erase(event.cell);
        return;
      case CellEventKind::usage:
        CELLBLOCK_FUZZ_CHECK(fds == 0 && event.usage.count <= wire::usages_in_record);
        for (std::uint32_t i = 0; i < event.usage.count; ++i) {
          CELLBLOCK_FUZZ_CHECK(cells_[which].contains(event.usage.cells[i].cell));
        }
        return;
    }
    CELLBLOCK_FUZZ_CHECK(false);
  }

  void read_events(std::size_t which) {
    const Fd& channel = stage().gateways[which].channel;
    while (channel.valid()) {
      wire::CellEvent event;
      const auto received = receive_record(channel.get(), event, MSG_DONTWAIT);
      if (!received) return;
      check_event(which, event, received->fds.size());
    }
  }

  void read_reports() {
    for (;;) {
      wire::LauncherReport report;
      const auto received = receive_record(pair_.second.get(), report, MSG_DONTWAIT);
      if (!received) return;
      CELLBLOCK_FUZZ_CHECK(received->fds.empty());
      CELLBLOCK_FUZZ_CHECK(report.cells <= small_config().cells.in_all);
    }
  }

  Input& input_;
  std::set<pid_t> children_before_ = children();
  EventLoop loop_;
  Pair pair_;
  Fd turns_;  ///< always readable
  Launcher* launcher_ = nullptr;
  std::size_t steps_ = 0;
  bool supervisor_offends_ = false;
  std::uint32_t asked_ = 0;
  std::map<std::uint32_t, std::pair<std::size_t, wire::GatewayRequest>> requests_;
  std::map<std::uint32_t, ServerSet> permitted_;          ///< ever, by user
  std::map<std::size_t, std::set<std::uint64_t>> cells_;  ///< that a gateway knows
  std::set<std::uint64_t> all_cells_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t before = open_descriptors();
  {
    Life life(input);
    life.run();
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
  return 0;
}
