#include "policy/failures/end_verdict.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <set>
#include <string>
#include <string_view>

namespace cellblock {
namespace {

EndedCell setup_failed(SetupStep step, int error, ExecDetail detail = ExecDetail::none) {
  EndedCell cell;
  cell.facts.kind = EndKind::setup_failed;
  cell.facts.step = step;
  cell.facts.error = error;
  cell.facts.detail = detail;
  return cell;
}

EndedCell exited(int code, Handshake handshake) {
  EndedCell cell;
  cell.facts.kind = EndKind::exited;
  cell.facts.exit_code = code;
  cell.handshake = handshake;
  return cell;
}

EndedCell signalled(int signal, Handshake handshake) {
  EndedCell cell;
  cell.facts.kind = EndKind::signalled;
  cell.facts.signal = signal;
  cell.handshake = handshake;
  return cell;
}

EndedCell filtered(std::uint32_t arch, std::int32_t number) {
  EndedCell cell;
  cell.facts.kind = EndKind::killed_by_filter;
  cell.facts.syscall_arch = arch;
  cell.facts.syscall_number = number;
  return cell;
}

EndedCell given_up(GivenUp why) {
  EndedCell cell = signalled(SIGKILL, Handshake::answered);
  cell.given_up = why;
  return cell;
}

EndedCell saying(EndedCell cell, std::vector<std::string> lines) {
  cell.stderr_tail = std::move(lines);
  return cell;
}

void expect(const EndedCell& cell, Verdict verdict, std::string_view cause) {
  const CrashVerdict judged = judge_end(cell);
  EXPECT_EQ(name_of(judged.verdict), name_of(verdict)) << judged.cause;
  EXPECT_EQ(judged.cause, cause);
}

EndedCell out_of_memory(std::optional<std::uint64_t> limit, std::uint64_t peak) {
  EndedCell cell = signalled(SIGKILL, Handshake::answered);
  cell.facts.kind = EndKind::out_of_memory;
  cell.facts.oom_kills = 3;
  cell.facts.memory_peak = peak;
  cell.memory_limit = limit;
  return cell;
}

constexpr std::uint64_t mib = 1ULL << 20;

TEST(CrashVerdict, NamesTheLimitThatACellWentOver) {
  constexpr std::string_view cause =
      "went over limits.memory (512MiB): everything in the cell was killed";
  expect(out_of_memory(512 * mib, 512 * mib), Verdict::out_of_memory, cause);
  expect(out_of_memory(512 * mib, 512 * mib - 8192), Verdict::out_of_memory, cause);
  expect(out_of_memory(512 * mib, 0), Verdict::out_of_memory, cause);  // an older kernel
}

TEST(CrashVerdict, BlamesTheHostForACellThatHadNotUsedItsMemory) {
  constexpr std::string_view cause =
      "the host ran out of memory: everything in the cell was killed";
  expect(out_of_memory(512 * mib, 100 * mib), Verdict::out_of_memory, cause);
  expect(out_of_memory({}, 100 * mib), Verdict::out_of_memory, cause);
}

TEST(CrashVerdict, OfACellThatWasToldToStopIsNotItsMemory) {
  EndedCell cell = out_of_memory(512 * mib, 512 * mib);
  cell.given_up = GivenUp::asked_to_stop;
  expect(cell, Verdict::stopped, "was stopped");
}

TEST(CrashVerdict, NamesTheStepThatFailed) {
  expect(setup_failed(SetupStep::enter_root, EACCES), Verdict::never_ran,
         "step enter_root failed: EACCES: Permission denied (a directory on the way is closed to "
         "the daemon's user, or working_directory to the server's)");
  expect(setup_failed(SetupStep::new_session, EPERM), Verdict::never_ran,
         "step new_session failed: EPERM: Operation not permitted");
  expect(setup_failed(SetupStep::prove_dropped, 0), Verdict::never_ran,
         "step prove_dropped failed");
  expect(setup_failed(SetupStep::map_ids, 9999), Verdict::never_ran,
         "step map_ids failed: errno 9999: unknown error 9999");
}

TEST(CrashVerdict, NamesThePathThatFailed) {
  EndedCell cell = setup_failed(SetupStep::prepare, ENOENT);
  cell.failed_path = "/srv/data";
  expect(cell, Verdict::never_ran,
         "step prepare failed: ENOENT: No such file or directory: /srv/data (a path under "
         "image, read, write or home_files does not exist); paths are looked at when cellblockd "
         "starts and at each "
         "\"cellblock reload\": put it right, then have an administrator reload");
}

TEST(CrashVerdict, SaysWhatWasFoundAtAPathThatOthersCanChange) {
  EndedCell cell = setup_failed(SetupStep::prepare, ESTALE);
  cell.broken = "write \"/srv/data\" is reached through a symbolic link";
  expect(cell, Verdict::never_ran,
         "step prepare failed: write \"/srv/data\" is reached through a symbolic link; paths are "
         "looked at when cellblockd starts and at each \"cellblock reload\": put it right, then "
         "have an administrator reload");
}

TEST(CrashVerdict, SaysWhyExecFailed) {
  expect(
      setup_failed(SetupStep::exec, ENOENT, ExecDetail::interpreter_missing), Verdict::never_ran,
      "step exec failed: ENOENT: the interpreter on the command's #! line does not exist inside "
      "the cell (outside /usr, /bin and the like a cell sees only what the server declares: name "
      "the directory of the command under program or read)");
  expect(setup_failed(SetupStep::exec, ENOEXEC, ExecDetail::unknown_format), Verdict::never_ran,
         "step exec failed: ENOEXEC: the command is neither a program nor a script with a #! line");
}

TEST(CrashVerdict, TellsAnEarlyExitFromALaterOne) {
  expect(exited(0, Handshake::answered), Verdict::ordinary_exit, "exited with code 0");
  expect(exited(0, Handshake::unanswered), Verdict::early_crash,
         "exited with code 0 before it answered");
  expect(exited(1, Handshake::unanswered), Verdict::early_crash,
         "exited with code 1 before it answered");
  expect(exited(1, Handshake::answered), Verdict::crash, "exited with code 1");
  expect(EndedCell{}, Verdict::early_crash, "ended in an unknown way before it answered");
}

TEST(CrashVerdict, NamesSignals) {
  expect(signalled(SIGSEGV, Handshake::answered), Verdict::crash, "killed by signal 11 (SIGSEGV)");
  expect(signalled(SIGABRT, Handshake::unanswered), Verdict::early_crash,
         "killed by signal 6 (SIGABRT) before it answered");
  expect(signalled(SIGKILL, Handshake::answered), Verdict::crash,
         "killed by signal 9 (SIGKILL) (out of memory, or killed from outside)");
  expect(signalled(99, Handshake::answered), Verdict::crash, "killed by signal 99 (signal 99)");
}

TEST(CrashVerdict, NamesTheSystemCallThatWasRefused) {
  expect(filtered(AUDIT_ARCH_I386, 20), Verdict::killed_by_filter,
         "killed by the system call filter: i386 system call 20");
#ifdef __x86_64__
  expect(filtered(AUDIT_ARCH_X86_64, SYS_unshare), Verdict::killed_by_filter,
         "killed by the system call filter: unshare");
  expect(filtered(AUDIT_ARCH_X86_64, 999), Verdict::killed_by_filter,
         "killed by the system call filter: x86-64 system call 999");
  expect(filtered(AUDIT_ARCH_X86_64, 0x40000000 | 39), Verdict::killed_by_filter,
         "killed by the system call filter: x32 system call 39");
#endif
}

TEST(CrashVerdict, QuotesTheLastWords) {
  expect(saying(exited(1, Handshake::unanswered), {"starting", "Error: no such database"}),
         Verdict::early_crash,
         "exited with code 1 before it answered; last words: \"Error: no such database\"");
  expect(saying(exited(2, Handshake::answered), {"usage: x", "", "  "}), Verdict::crash,
         "exited with code 2; last words: \"usage: x\"");
}

TEST(CrashVerdict, PrefersTheLineThatNamesAnError) {
  expect(
      saying(exited(1, Handshake::unanswered), {"node:internal", "TypeError: x is not a function",
                                                "    at main", "", "Node.js v20.20.2"}),
      Verdict::early_crash,
      "exited with code 1 before it answered; last words: \"TypeError: x is not a function\"");
}

TEST(CrashVerdict, PrefersALineThatSaysWhatWasFatal) {
  for (const char* words : {"# Fatal process out of memory", "Check failed: 12 == result."}) {
    EndedCell cell;
    cell.facts.kind = EndKind::signalled;
    cell.facts.signal = 5;
    cell.stderr_tail = {words, "a frame of the stack"};
    EXPECT_NE(judge_end(cell).cause.find(words), std::string::npos);
  }
}

TEST(CrashVerdict, BoundsTheLastWords) {
  const EndedCell cell = saying(exited(1, Handshake::answered), {std::string(5000, 'x')});
  EXPECT_LT(judge_end(cell).cause.size(), 400U);
}

TEST(CrashVerdict, QuotesWhatWentToStdoutWhenStderrIsEmpty) {
  EndedCell cell = exited(1, Handshake::unanswered);
  cell.first_noise = "Usage: server DIRECTORY";
  expect(cell, Verdict::early_crash,
         "exited with code 1 before it answered; it wrote \"Usage: server DIRECTORY\" to its "
         "standard output");
}

TEST(CrashVerdict, RecognisesAMissingLibrary) {
  const std::string line =
      "/bin/x: error while loading shared libraries: libfoo.so.1: cannot open shared object file: "
      "No such file or directory";
  expect(saying(exited(127, Handshake::unanswered), {line}), Verdict::early_crash,
         "a shared library is missing: libfoo.so.1");
  expect(saying(exited(1, Handshake::unanswered), {"error while loading shared libraries: x"}),
         Verdict::early_crash,
         "exited with code 1 before it answered; last words: \"error while loading shared "
         "libraries: x\"");
}

TEST(CrashVerdict, LetsTheFirstCauseWin) {
  expect(given_up(GivenUp::asked_to_stop), Verdict::stopped, "was stopped");
  expect(given_up(GivenUp::closed_stdout), Verdict::closed_stdout,
         "closed its standard output but is still running");
  EndedCell slow = given_up(GivenUp::handshake_timeout);
  slow.age_ms = 30'000;
  expect(slow, Verdict::handshake_timeout, "is running but had not answered after 30000 ms");
  EndedCell failed = setup_failed(SetupStep::new_keyring, ENOSYS);
  failed.given_up = GivenUp::asked_to_stop;
  EXPECT_EQ(judge_end(failed).verdict, Verdict::never_ran);
}

TEST(CrashVerdict, SaysHowMuchNoiseThereWas) {
  EndedCell cell = given_up(GivenUp::too_much_noise);
  cell.noise_lines = 101;
  cell.first_noise = "Listening on";
  expect(cell, Verdict::too_much_noise,
         "wrote 101 lines that are no messages to its standard output, first \"Listening on\"");
}

TEST(CrashVerdict, NamesAFramingThatIsNoneOfMcp) {
  EndedCell cell = given_up(GivenUp::foreign_framing);
  cell.framing = ForeignFraming::utf16;
  expect(cell, Verdict::foreign_framing, "wrote its messages in UTF-16");
}

EndedCell refused_name(EndedCell cell) {
  cell.refused_network = {.what = "resolve api.example.org",
                          .reason = "no rule of egress.allow has this name, address and port",
                          .allow = "egress.allow = [\"api.example.org:443\"]"};
  return cell;
}

TEST(CrashVerdict, OfASilentServerNamesTheNameThatItCouldNotReachAndTheRemedy) {
  const EndedCell cell = refused_name(given_up(GivenUp::handshake_timeout));
  expect(cell, Verdict::handshake_timeout,
         "is running but had not answered after 0 ms; it was refused \"resolve api.example.org\" "
         "(no rule of egress.allow has this name, address and port)");
  EXPECT_EQ(judge_end(cell).advice,
            "if it needs that, allow it with egress.allow = [\"api.example.org:443\"]; `cellblock "
            "logs --denied` lists all that it was refused");
}

TEST(CrashVerdict, OfAServerWithoutANetworkTakesTheNameFromWhatItSaid) {
  EndedCell cell =
      saying(exited(1, Handshake::unanswered), {"Error: getaddrinfo EAI_AGAIN api.example.org"});
  cell.refused_network = {.what = "socket(AF_INET)", .reason = "network", .is_all = true};
  EXPECT_EQ(judge_end(cell).advice,
            "if it needs the network, give it network = \"egress\" and egress.allow = "
            "[\"api.example.org:443\"]; `cellblock learn` finds what it needs");
  cell.stderr_tail.clear();
  cell.given_up = GivenUp::handshake_timeout;
  EXPECT_NE(judge_end(cell).advice.find("[\"NAME:PORT\"]"), std::string::npos);
}

TEST(CrashVerdict, OfACrashThatNamesNoMissingNameSaysNothingOfTheNetwork) {
  const EndedCell cell =
      refused_name(saying(exited(1, Handshake::unanswered), {"Error: no such database"}));
  EXPECT_EQ(judge_end(cell).advice, "");
}

TEST(CrashVerdict, ShowsTheLastTenOfTheLinesThatItReads) {
  std::vector<std::string> lines{"Error: no such database"};
  lines.resize(30, "    at somewhere");
  expect(saying(exited(1, Handshake::answered), lines), Verdict::crash,
         "exited with code 1; last words: \"Error: no such database\"");
  EXPECT_EQ(shown_lines(lines).size(), 10U);
}

TEST(CrashVerdict, HasANameForEachVerdict) {
  std::set<std::string_view> names;
  for (std::uint8_t i = 0; i < verdict_count; ++i) names.insert(name_of(Verdict{i}));
  EXPECT_EQ(names.size(), verdict_count);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(name_of(Verdict::early_crash), "early_crash");
  EXPECT_EQ(name_of(Verdict::too_much_noise), "too_much_noise");
}

TEST(CrashVerdict, IsToldWithTheServersName) {
  EXPECT_EQ(describe("git", {Verdict::never_ran, "step exec failed: EIO: Input/output error"}),
            "cell \"git\": step exec failed: EIO: Input/output error");
}

TEST(CrashVerdict, OfACellWithoutItsEgressHelperSaysHowThatEnded) {
  EndedCell cell;
  cell.facts.kind = EndKind::egress_ended;
  cell.facts.exit_code = 1;
  expect(cell, Verdict::egress_ended, "its egress helper ended first, with code 1");
  cell.facts.signal = SIGSEGV;
  expect(cell, Verdict::egress_ended,
         "its egress helper ended first, killed by signal 11 (SIGSEGV)");
  cell.facts.step = SetupStep::exec;
  cell.facts.error = ENOENT;
  expect(cell, Verdict::egress_ended, "its egress helper ended first: step exec failed: ENOENT");
}

}  // namespace
}  // namespace cellblock
