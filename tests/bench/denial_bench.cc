// denial_bench: what a refused call costs, by errno and by notification, what an allowed one costs
// under the filter, and what a flood costs the launcher and its neighbour. Prints Markdown.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <vector>

#include "policy/syscalls/syscall_rules.h"
#include "supervisor/launcher/run/denials.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using Times = std::vector<double>;  // of one call each, in nanoseconds

constexpr int calls_a_round = 2'000;  // below what a cell is answered at once
constexpr int rounds = 15;

double median(Times times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

std::shared_ptr<const FilterProgram> filter_with(Reporting reporting) {
  auto table = syscall_table(SyscallRules{.base = SyscallProfile::node}, NetworkMode::none);
  if (!table) return nullptr;
  table->reporting = reporting;
  auto program = compile_filter(*table);
  return program ? std::make_shared<const FilterProgram>(std::move(*program)) : nullptr;
}

void refused() { ::syscall(SYS_mount, nullptr, nullptr, nullptr, 0UL, nullptr); }
void allowed() { ::syscall(SYS_getppid); }
void allowed_by_argument() { ::syscall(SYS_personality, 0xffff'ffffUL); }

double time_of(void (*call)(), int calls) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
}

/// A process under the filter, or under none, that is answered by a loop in this one.
class Subject {
 public:
  Subject(EventLoop& loop, Denials& denials, std::shared_ptr<const FilterProgram> filter,
          const std::function<double()>& work)
      : loop_(loop), denials_(denials), cell_(++last_cell) {
    auto sockets = make_seqpacket_pair();
    auto result = make_pipe();
    child_ = ::fork();
    if (child_ == 0) run(filter.get(), sockets->second.get(), result->second.get(), work);
    result_ = std::move(result->first);
    sockets->second.reset();
    char byte = 0;
    auto received = receive_record(sockets->first.get(), byte);
    if (received && received->fds.size() == 1) listen(std::move(received->fds[0]), filter);
    static_cast<void>(loop_.watch_input(result_.get(), [this] { finish(); }));
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    denials_.forget(cell_);
    if (!done_) loop_.forget(result_.get());
  }

  double answer() const { return answer_; }
  std::function<void()> on_done = [] {};

 private:
  [[noreturn]] static void run(const FilterProgram* filter, int socket, int result,
                               const std::function<double()>& work) {
    if (filter != nullptr && testing_support::notifies(*filter)) {
      testing_support::load_heard(*filter, socket);
    } else if (filter != nullptr) {
      testing_support::load_filter(*filter, 0);
    }
    ::close(socket);
    const double answer = work();
    static_cast<void>(::write(result, &answer, sizeof answer) < 0);
    ::_exit(0);
  }

  void listen(Fd listener, std::shared_ptr<const FilterProgram> filter) {
    const Denials::Listener nobody{[](std::uint32_t, std::int32_t) {},
                                   [](const wire::Denial&) { return true; }};
    static_cast<void>(denials_.watch(cell_, std::move(listener), std::move(filter), nobody));
  }

  void finish() {
    static_cast<void>(::read(result_.get(), &answer_, sizeof answer_) < 0);
    loop_.forget(result_.get());
    done_ = true;
    on_done();
  }

  static inline std::uint64_t last_cell = 0;
  EventLoop& loop_;
  Denials& denials_;
  std::uint64_t cell_;
  pid_t child_ = 0;
  Fd result_;
  double answer_ = 0;
  bool done_ = false;
};

double one(std::shared_ptr<const FilterProgram> filter, const std::function<double()>& work) {
  auto loop = EventLoop::make();
  Denials denials(*loop);
  Subject subject(*loop, denials, std::move(filter), work);
  subject.on_done = [&] { loop->stop(); };
  static_cast<void>(loop->run());
  return subject.answer();
}

struct Case {
  const char* name;
  std::shared_ptr<const FilterProgram> filter;
  void (*call)();
  Times times{};
};

void print_calls() {
  const auto by_errno = filter_with(Reporting::quiet);
  const auto notified = filter_with(Reporting::reported);
  std::vector<Case> cases = {
      {"getppid, no filter", nullptr, allowed},
      {"getppid, filter without listener", by_errno, allowed},
      {"getppid, filter with listener", notified, allowed},
      {"personality, argument rules, without listener", by_errno, allowed_by_argument},
      {"personality, argument rules, with listener", notified, allowed_by_argument},
      {"mount, refused by errno", by_errno, refused},
      {"mount, refused by notification", notified, refused}};
  for (int round = 0; round < rounds; ++round) {
    for (Case& measured : cases) {
      const int calls = measured.call == refused ? calls_a_round : 50 * calls_a_round;
      measured.times.push_back(one(measured.filter, [&] { return time_of(measured.call, calls); }));
    }
  }
  const double base = median(cases[0].times);
  fmt::print("| call | ns | ratio |\n|---|---|---|\n");
  for (const Case& measured : cases) {
    const double time = median(measured.times);
    fmt::print("| {} | {:.0f} | {:.1f} |\n", measured.name, time, time / base);
  }
}

// --- a flood -------------------------------------------------------------------------------------

double for_ever() {
  for (;;) refused();
}

double own_processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// The median time of a refused call of a neighbour that makes one every 5 ms.
double neighbour() {
  Times times;
  for (int i = 0; i < 400; ++i) {
    const timespec pause{0, 5'000'000};
    ::nanosleep(&pause, nullptr);
    times.push_back(time_of(refused, 1));
  }
  return median(times);
}

void print_flood(int floods) {
  const auto filter = filter_with(Reporting::reported);
  auto loop = EventLoop::make();
  Denials denials(*loop);
  std::vector<std::unique_ptr<Subject>> flooders;
  for (int i = 0; i < floods; ++i) {
    flooders.push_back(std::make_unique<Subject>(*loop, denials, filter, for_ever));
  }
  Subject quiet(*loop, denials, filter, neighbour);
  quiet.on_done = [&] { loop->stop(); };
  const auto begin = Clock::now();
  const double before = own_processor_time();
  static_cast<void>(loop->run());
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print("| {} | {:.1f} % | {:.0f} |\n", floods,
             100 * (own_processor_time() - before) / seconds, quiet.answer() / 1e3);
}

void print_floods() {
  fmt::print("\n| flooding cells | launcher's processor time | a neighbour's refused call, us |\n");
  fmt::print("|---|---|---|\n");
  for (const int floods : {0, 1, 4, 16}) print_flood(floods);
}

double loading_time(const FilterProgram& filter) {
  const auto begin = Clock::now();
  testing_support::load_filter(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void print_loading() {
  Times times;
  const auto filter = filter_with(Reporting::reported);
  for (int i = 0; i < 200; ++i) {
    times.push_back(one(nullptr, [&] { return loading_time(*filter); }));
  }
  const auto begin = Clock::now();
  static_cast<void>(filter_with(Reporting::reported));
  const double compile = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  fmt::print("\n{} instructions; compiled in {:.0f} us, loaded in {:.0f} us.\n",
             filter->instructions.size(), compile, median(times));
}

}  // namespace
}  // namespace cellblock::launcher

int main() {
  cellblock::launcher::print_calls();
  cellblock::launcher::print_floods();
  cellblock::launcher::print_loading();
}
