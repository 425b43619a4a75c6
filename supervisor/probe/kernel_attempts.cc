#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/klog.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

constexpr char kallsyms[] = "/proc/kallsyms";
constexpr char kcore[] = "/proc/kcore";
constexpr char modules[] = "/proc/modules";
constexpr char keys[] = "/proc/keys";
constexpr char build_options[] = "/proc/config.gz";
constexpr char timers[] = "/proc/timer_list";
constexpr char command_line[] = "/proc/cmdline";
constexpr char interrupts[] = "/proc/interrupts";
constexpr char partitions[] = "/proc/partitions";
constexpr char zones[] = "/proc/buddyinfo";
constexpr char boot_id[] = "/proc/sys/kernel/random/boot_id";
constexpr char load[] = "/proc/loadavg";
constexpr char drop_caches[] = "/proc/sys/vm/drop_caches";
constexpr char forward[] = "/proc/sys/net/ipv4/ip_forward";
constexpr char user_namespaces[] = "/proc/sys/user/max_user_namespaces";
constexpr char module_helper[] = "/proc/sys/kernel/modprobe";
constexpr char last_panic[] = "/proc/sys/kernel/panic";
constexpr char magic_keys[] = "/proc/sysrq-trigger";
constexpr char binary_formats[] = "/proc/sys/fs/binfmt_misc/register";

// Writes back what it read: the check is made at open, and proved by the write.
Outcome write_core_pattern(const Setting&) {
  const Open file(::open("/proc/sys/kernel/core_pattern", O_RDWR | O_CLOEXEC));
  if (!file.valid()) return held(errno);
  std::array<char, 256> same{};
  const ssize_t length = ::read(file.get(), same.data(), same.size());
  if (length <= 0) return held("it cannot be read");
  return from_call(::pwrite(file.get(), same.data(), static_cast<std::size_t>(length), 0));
}

Outcome set_up_io_uring(const Setting&) {
  io_uring_params parameters{};
  return from_call(::syscall(SYS_io_uring_setup, 1, &parameters));
}
Outcome enter_io_uring(const Setting&) {
  const long result = ::syscall(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0);
  return from_harmless_call(result);
}

Outcome make_bpf_map(const Setting&) {
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = 4;
  map.max_entries = 1;
  return from_call(::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
}

Outcome load_bpf_program(const Setting&) {
  bpf_insn code[2]{};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0
  code[1].code = BPF_JMP | BPF_EXIT;
  static constexpr char license[] = "GPL";
  bpf_attr program{};
  program.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  program.insn_cnt = 2;
  program.insns = reinterpret_cast<std::uintptr_t>(code);
  program.license = reinterpret_cast<std::uintptr_t>(license);
  return from_call(::syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof program));
}

Outcome open_perf_event(const Setting&) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  event.exclude_kernel = 1;
  return from_call(::syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}

Outcome handle_page_faults(const Setting&) {
  return from_call(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

Outcome make_secret_memory(const Setting&) { return from_call(::syscall(SYS_memfd_secret, 0)); }

Outcome watch_file_system(const Setting&) {
  return from_call(::fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY));
}

Outcome answer_for_children(const Setting&) {
  sock_filter code[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{1, code};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return from_call(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

Outcome load_module(const Setting&) {
  return from_harmless_call(::syscall(SYS_init_module, nullptr, 0, ""));
}
Outcome load_module_file(const Setting&) {
  return from_harmless_call(::syscall(SYS_finit_module, -1, "", 0));
}
Outcome unload_module(const Setting&) {
  return from_harmless_call(::syscall(SYS_delete_module, "cellblock_probe", O_NONBLOCK));
}
Outcome load_kernel(const Setting&) {
  return from_harmless_call(::syscall(SYS_kexec_load, 0, ~0UL, nullptr, ~0UL));
}
Outcome restart_machine(const Setting&) {
  return from_harmless_call(::syscall(SYS_reboot, 0, 0, 0, nullptr));  // wrong magic numbers
}
Outcome swap_on(const Setting&) { return from_harmless_call(::swapon("/cellblock-probe", 0)); }
Outcome swap_off(const Setting&) { return from_harmless_call(::swapoff("/cellblock-probe")); }
Outcome account(const Setting&) { return from_harmless_call(::acct("/cellblock-probe")); }

Outcome set_time_zone(const Setting&) {
  struct {
    int minutes_west, dst;
  } zone{};
  if (::syscall(SYS_gettimeofday, nullptr, &zone) < 0) return not_begun("cannot read it");
  return from_call(::syscall(SYS_settimeofday, nullptr, &zone));
}

// The tick that the clock has already.
Outcome adjust_clock(const Setting&) {
  timex clock{};
  if (::syscall(SYS_adjtimex, &clock) < 0) return held(errno);
  clock.modes = ADJ_TICK;
  return from_call(::syscall(SYS_adjtimex, &clock));
}

Outcome set_host_name(const Setting&) {
  utsname name{};
  ::uname(&name);
  return from_call(::sethostname(name.nodename, std::strlen(name.nodename)));
}

Outcome read_kernel_log(const Setting&) {
  std::array<char, 64> text{};
  return from_call(::klogctl(3, text.data(), static_cast<int>(text.size())));
}

Outcome hang_up(const Setting&) {
  // Where there is no terminal that it would take from anybody.
  return in_new_session([] { return from_call(::syscall(SYS_vhangup)); });
}

#ifdef __x86_64__
Outcome open_ports(const Setting&) { return from_call(::syscall(SYS_iopl, 3)); }
Outcome open_one_port(const Setting&) { return from_call(::syscall(SYS_ioperm, 0x80, 1, 1)); }
Outcome make_segments(const Setting&) {
  std::array<char, 64> entries{};
  return from_call(::syscall(SYS_modify_ldt, 0, entries.data(), entries.size()));
}

// getpid in numbers of the 32-bit table: a filter that looks at numbers alone takes it for writev.
Outcome call_by_int_80(const Setting&) {
  long result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result > 0 ? opened() : held(static_cast<int>(-result));
}
Outcome call_by_x32(const Setting&) { return from_call(::syscall(0x4000'0000 + SYS_getpid)); }
#endif

Outcome switch_off_randomisation(const Setting&) {
  return from_call(::personality(ADDR_NO_RANDOMIZE));
}
Outcome make_all_executable(const Setting&) { return from_call(::personality(READ_IMPLIES_EXEC)); }

Outcome give_pages_away(const Setting&) {
  std::array<int, 2> pipe{};
  static char page[4096] = "x";
  if (::pipe(pipe.data()) < 0) return not_begun("pipe failed");
  const iovec part{page, sizeof page};
  return from_call(::vmsplice(pipe[1], &part, 1, SPLICE_F_GIFT));
}

Outcome move_pages(const Setting&) {
  static int word = 1;
  void* page = &word;
  int status = 0;
  return from_call(::syscall(SYS_move_pages, 0, 1, &page, nullptr, &status, 0));
}

Outcome bind_memory(const Setting&) {
  return from_call(::syscall(SYS_set_mempolicy, 0, nullptr, 0));
}

Outcome keep_quota(const Setting&) {
  return from_harmless_call(::syscall(SYS_quotactl, 0, "/cellblock-probe", 0, nullptr));
}

Outcome branch_freely(const Setting&) {
  // What the kernel was told to protect at start cannot be taken back by a sandbox that sets it.
  const int state = ::prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0);
  if (state < 0) return not_applicable("the kernel does not tell");
  if ((state & PR_SPEC_PRCTL) == 0) return not_applicable("this processor needs no protection");
  return from_call(::prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_ENABLE, 0, 0));
}

constexpr Attempt attempts[] = {
    {"write_core_pattern", "a crash of any process runs a program of its choice as root",
     write_core_pattern},
    {"open_drop_caches", "everybody's file cache can be thrown away", write_it<drop_caches>},
    {"open_ip_forward", "the network of the host can be changed", write_it<forward>},
    {"open_max_user_namespaces", "limits of namespaces can be raised", write_it<user_namespaces>},
    {"open_modprobe_path", "the kernel runs a program of its choice as root",
     write_it<module_helper>},
    {"open_panic_setting", "the machine can be made to restart", write_it<last_panic>},
    {"open_sysrq_trigger", "the machine can be crashed or restarted", write_it<magic_keys>},
    {"open_binary_formats", "an interpreter of its choice runs for others' programs",
     write_it<binary_formats>},
    {"read_kallsyms", "the addresses of the kernel can be read", read_it<kallsyms>},
    {"read_kcore", "the memory of the kernel can be read", read_it<kcore>},
    {"read_modules", "the drivers of the host are known", read_it<modules>},
    {"read_key_list", "keys of the same user are in sight", read_it<keys>},
    {"read_build_options", "the options of the kernel are known", read_it<build_options>},
    {"read_timer_list", "addresses and processes of the host are in sight", read_it<timers>},
    {"read_command_line", "how the host was started is known", read_it<command_line>},
    {"read_interrupts", "key strokes and traffic can be timed", read_it<interrupts>},
    {"read_partitions", "the disks of the host are known", read_it<partitions>},
    {"read_memory_zones", "the memory of the host can be watched", read_it<zones>},
    {"read_boot_id", "the machine can be recognised until it restarts", read_it<boot_id>},
    {"read_load", "the load of the host can be watched", read_it<load>},
    {"set_up_io_uring", "calls can be made past a filter", set_up_io_uring},
    {"enter_io_uring", "a ring from elsewhere can be driven", enter_io_uring},
    {"make_bpf_map", "the kernel keeps data for programs in it", make_bpf_map},
    {"load_bpf_program", "code can be run in the kernel", load_bpf_program},
    {"open_perf_event", "the processor can be watched", open_perf_event},
    {"handle_page_faults", "the kernel can be stalled half-way", handle_page_faults},
    {"make_secret_memory", "memory can be hidden from the supervisor", make_secret_memory,
     Danger::none, "memfd_secret"},
    {"watch_file_system", "all use of files can be watched", watch_file_system},
    {"answer_calls_of_children", "calls of others can be answered with lies", answer_for_children},
    {"load_module", "code can be loaded into the kernel", load_module},
    {"load_module_file", "code can be loaded into the kernel", load_module_file},
    {"unload_module", "drivers can be removed", unload_module},
    {"load_kernel", "the kernel can be replaced", load_kernel},
    {"restart_machine", "the machine can be stopped", restart_machine},
    {"swap_on", "memory of others can be written to its file", swap_on},
    {"swap_off", "the machine can be driven out of memory", swap_off},
    {"account_processes", "the kernel writes a file as root", account},
    {"set_time_zone", "the clock of the machine can be set", set_time_zone},
    {"adjust_clock", "the clock of the machine can be bent", adjust_clock},
    {"set_host_name", "the name of the machine can be changed", set_host_name},
    {"read_kernel_log", "addresses and events of the host can be read", read_kernel_log},
    {"hang_up_terminal", "a terminal can be taken from its user", hang_up},
#ifdef __x86_64__
    {"open_io_ports", "devices can be driven by hand", open_ports},
    {"open_one_io_port", "a device can be driven by hand", open_one_port},
    {"read_segments", "the segment tables have been holes before", make_segments},
#endif
    {"switch_off_randomisation", "addresses of programs can be foretold", switch_off_randomisation},
    {"make_all_memory_executable", "whatever can be read can be run", make_all_executable},
    {"give_pages_away", "pages of files can be pushed into pipes", give_pages_away, Danger::none,
     "vmsplice"},
    {"move_pages", "memory can be placed by hand", move_pages, Danger::none, "move_pages"},
    {"set_memory_policy", "memory can be taken from where others need it", bind_memory,
     Danger::none, "set_mempolicy"},
    {"ask_for_quota", "quota of the host can be seen and changed", keep_quota},
    {"allow_speculation", "protection from side channels can be switched off", branch_freely},
#ifdef __x86_64__
    {"call_by_int_80", "a filter on numbers can be walked past", call_by_int_80, Danger::fatal},
    {"call_by_x32", "a filter on numbers can be walked past", call_by_x32, Danger::fatal},
#endif
};

}  // namespace

std::span<const Attempt> kernel_attempts() { return attempts; }

}  // namespace cellblock::probe
