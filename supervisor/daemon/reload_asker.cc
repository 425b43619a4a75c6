#include "supervisor/daemon/reload_asker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "policy/printable.h"
#include "policy/reload/difference.h"
#include "policy/reload/merge.h"
#include "policy/reload/secret_places.h"
#include "policy/server_set.h"
#include "supervisor/daemon/host_facts.h"
#include "supervisor/daemon/load_steps.h"
#include "supervisor/daemon/privileges.h"
#include "supervisor/daemon/reload_offer.h"
#include "supervisor/daemon/reload_report.h"
#include "supervisor/daemon/wipe.h"
#include "supervisor/kernel/sealed_config.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds offer_patience{10'000};
constexpr milliseconds answer_patience{60'000};
constexpr std::size_t longest_answer = 64U << 10;

/// What the daemon uses, and what it says of itself.
struct InUse {
  Config config;
  ReloadFacts facts;
};

Result<void> wait_for(int socket, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  pollfd watched{socket, POLLIN, 0};
  int count = -1;
  do {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    count = ::poll(&watched, 1, static_cast<int>(std::max(left, milliseconds{0}).count()));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  return count > 0 ? Result<void>{} : fail("cellblockd does not answer");
}

// "refused", and why.
Result<void> read_answer(int socket) {
  std::string answer;
  std::array<char, 4096> bytes;
  while (answer.size() < longest_answer) {
    CELLBLOCK_CHECK(wait_for(socket, answer_patience));
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (answer == "reloaded\n") return {};
  const std::string_view why = std::string_view(answer).substr(
      std::min(answer.size(), answer.find('\n') == std::string::npos ? 0 : answer.find('\n') + 1));
  if (why.empty()) return fail("cellblockd has ended the connection: see its log");
  return fail(printable(why.substr(0, why.find_last_not_of('\n') + 1), longest_answer));
}

// What cannot be read as an offer are words: why there is none.
Result<InUse> take_offer(int socket) {
  CELLBLOCK_CHECK(wait_for(socket, offer_patience));
  const auto offer = receive_offer(socket);
  if (!offer) {
    CELLBLOCK_CHECK(read_answer(socket));
    return fail("cellblockd says nothing that this version understands");
  }
  InUse in_use;
  in_use.facts = CELLBLOCK_TRY(read_reload_facts(offer->facts.get()));
  if (in_use.facts.version != CELLBLOCK_VERSION) {
    return fail(fmt::format("cellblockd {} runs, and this is {}: restart it",
                            printable(in_use.facts.version, 64), CELLBLOCK_VERSION));
  }
  in_use.config = CELLBLOCK_TRY(read_sealed_config(offer->config.get()));
  return in_use;
}

// A daemon that takes its configuration from elsewhere would get one that is not its own.
Result<void> check_same(const Options& options, const ReloadFacts& facts) {
  if (facts.mode != options.mode) {
    return fail(facts.mode == RunMode::user ? "this cellblockd runs with --user: so does its reload"
                                            : "this cellblockd runs without --user");
  }
  if (facts.config_path == options.config) return {};
  return fail(fmt::format("this cellblockd was started with --config={}",
                          printable(facts.config_path, 4096)));
}

// The service's unit starts cellblockd as its own user: root, who reloads, would see files that
// this one did not see.
Result<void> become_reader(const InUse& in_use) {
  const Identity& identity = in_use.config.identity;
  if (::geteuid() != 0 || in_use.facts.read_by != identity.uid) return {};
  return become_daemon_user({identity.uid, identity.gid, {}});
}

// Whoever listens there is about to be given secrets.
Result<void> check_listener(int socket, const Config& config) {
  ucred listener{};
  socklen_t size = sizeof(listener);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &listener, &size) < 0) {
    return sys_fail("SO_PEERCRED");
  }
  if (listener.uid == config.identity.uid) return {};
  return fail(fmt::format("uid {} listens there, and cellblockd would be uid {}", listener.uid,
                          config.identity.uid));
}

struct Brought {
  Difference difference;
  Sealed sealed;
};

Result<Brought> merge(const InUse& in_use, LoadedConfig loaded) {
  keep_marks(in_use.config, loaded.config, loaded.secrets);
  const Config next = merged(in_use.config, loaded.config);
  Secrets secrets = in_places_of(next, loaded.config, std::move(loaded.secrets));
  Brought brought;
  brought.difference = difference(in_use.config, next);
  brought.sealed = CELLBLOCK_TRY(seal(next, secrets));
  if (next.servers.size() > max_servers) {
    return fail(
        fmt::format("at most {} servers can be declared, removed ones included, until "
                    "cellblockd is restarted",
                    max_servers));
  }
  if (const auto refusal = refusal_of(brought.difference); !refusal.empty()) return fail(refusal);
  return brought;
}

Result<Brought> prepare(const Options& options, int socket) {
  const InUse in_use = CELLBLOCK_TRY(take_offer(socket));
  CELLBLOCK_CHECK(check_same(options, in_use.facts));
  if (credentials_directory().empty() && !in_use.facts.credentials.empty()) {
    ::setenv("CREDENTIALS_DIRECTORY", in_use.facts.credentials.c_str(), 1);
  }
  CELLBLOCK_CHECK(become_reader(in_use));
  CELLBLOCK_CHECK(hide_memory());  // after each change of ids, which sets the default again
  Options its = options;
  if (!in_use.facts.socket.empty()) its.socket = in_use.facts.socket;
  LoadedConfig loaded = CELLBLOCK_TRY(load(its, LookPurpose::check, in_use.config.cgroup));
  CELLBLOCK_CHECK(check_listener(socket, loaded.config));
  // What prints secrets is run by the daemon's user, as at a start. That one has become it already.
  if (::geteuid() == 0) CELLBLOCK_CHECK(become_user_of(loaded.config));
  CELLBLOCK_CHECK(hide_memory());
  CELLBLOCK_CHECK(run_commands(loaded, [](milliseconds) {}));
  return merge(in_use, std::move(loaded));
}

Result<Difference> bring(const Options& options, int socket) {
  Brought brought = CELLBLOCK_TRY(prepare(options, socket));
  if (options.dry_run || brought.difference.empty()) return std::move(brought.difference);
  CELLBLOCK_CHECK(
      send_request(socket, {std::move(brought.sealed.config), std::move(brought.sealed.secrets)}));
  CELLBLOCK_CHECK(read_answer(socket));
  return std::move(brought.difference);
}

}  // namespace

int ask_for_reload(const Options& options) {
  const Fd socket(reload_socket);
  const auto brought = bring(options, socket.get());
  if (!brought) {
    fmt::print(stderr, "cellblock: nothing was changed: {}\n", brought.error().text);
    if (options.json) fmt::print("{}", reload_error_json(brought.error().text));
    return 1;
  }
  if (options.quiet) return 0;
  const auto tense = options.dry_run ? ReloadTense::would : ReloadTense::done;
  fmt::print("{}", options.json ? reload_json(*brought, tense) : reload_text(*brought, tense));
  return 0;
}

}  // namespace cellblock::daemon
