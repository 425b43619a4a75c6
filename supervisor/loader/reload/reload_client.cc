#include "supervisor/loader/reload/reload_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/printable.h"
#include "policy/base/server_set.h"
#include "policy/redaction/secret_marks.h"
#include "policy/reload/difference.h"
#include "policy/reload/merge.h"
#include "policy/reload/partial_difference.h"
#include "supervisor/handover/reload_protocol.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/loader/load/host_facts.h"
#include "supervisor/loader/load/secret_files.h"
#include "supervisor/loader/reload/reload_report.h"
#include "supervisor/loader/start/config_pipeline.h"
#include "supervisor/loader/start/owner_mounts.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/hidden_memory.h"
#include "supervisor/process/privileges.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds offer_patience{10'000};
constexpr milliseconds answer_patience{60'000};
// For a file system that hangs: the daemon stops listening before, and takes no other SIGHUP while
// this process runs.
constexpr unsigned longest_seconds = 600;
constexpr std::size_t longest_answer = 64U << 10;

/// The daemon's configuration, and its facts about itself.
struct InUse {
  Config config;
  ReloadFacts facts;
  Fd credentials;  ///< opened before the ids changed; not valid: not needed, or none
};

Result<void> wait_for(int socket, milliseconds patience) {
  if (wait_readable(socket, patience)) return {};
  return fail("cellblockd does not answer");
}

/// The daemon's answer; empty: the daemon uses the new configuration; otherwise the reason why not.
using Refusal = std::string;

// Reads "refused" and the reason. An error: the result of the reload is not known.
Result<Refusal> read_answer(int socket) {
  std::string answer;
  std::array<char, 4096> bytes;
  while (answer.size() < longest_answer) {
    CELLBLOCK_CHECK(wait_for(socket, answer_patience));
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (answer == "reloaded\n") return Refusal();
  const std::string_view why = std::string_view(answer).substr(
      std::min(answer.size(), answer.find('\n') == std::string::npos ? 0 : answer.find('\n') + 1));
  if (why.empty()) return fail("cellblockd has ended the connection");
  return printable(why.substr(0, why.find_last_not_of('\n') + 1), longest_answer);
}

Result<ucred> listener_of(int socket) {
  ucred listener{};
  socklen_t size = sizeof(listener);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &listener, &size) < 0) {
    return sys_fail("SO_PEERCRED");
  }
  return listener;
}

// The service's unit starts cellblockd as its own user. Root, who reloads, would see files that
// this user cannot see, so root becomes that user: the one whom the kernel names for the socket,
// not one whom the peer names.
Result<void> become_reader(const ReloadFacts& facts, int socket) {
  const ucred listener = CELLBLOCK_TRY(listener_of(socket));
  if (::geteuid() != 0 || listener.uid == 0 || facts.read_by != listener.uid) return {};
  return become_daemon_user({listener.uid, listener.gid, {}}, Keep::mounting);
}

// Root reads no directory that a peer names, except systemd's own.
void take_credentials(const ReloadFacts& facts, const Fd& opened) {
  if (facts.credentials.empty()) return;
  if (!opened.valid() && (::geteuid() == 0 || !credentials_directory().empty())) return;
  ::setenv("CREDENTIALS_DIRECTORY", facts.credentials.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

// Bytes that are no offer are a text with the reason.
Result<InUse> take_offer(int socket) {
  CELLBLOCK_CHECK(wait_for(socket, offer_patience));
  const auto offer = receive_offer(socket);
  if (!offer) {
    const Refusal refusal = CELLBLOCK_TRY(read_answer(socket));
    return fail(refusal.empty() ? "cellblockd says nothing that this version understands"
                                : refusal);
  }
  InUse in_use;
  in_use.facts = CELLBLOCK_TRY(read_reload_facts(offer->facts.get()));
  if (in_use.facts.version != CELLBLOCK_VERSION) {
    return fail(fmt::format("cellblockd {} runs, and this is {}: restart it",
                            printable(in_use.facts.version, 64), CELLBLOCK_VERSION));
  }
  if (::geteuid() == 0) in_use.credentials = open_service_credentials(in_use.facts.credentials);
  CELLBLOCK_CHECK(become_reader(in_use.facts, socket));
  // The daemon names the directory: a process that is still root would read any service's
  // credentials.
  if (::geteuid() == 0) in_use.credentials.reset();
  CELLBLOCK_CHECK(hide_memory());  // after each change of ids, which sets the default again
  in_use.config = CELLBLOCK_TRY(read_sealed_config(offer->config.get()));
  return in_use;
}

// Refuses a daemon that was started with another file.
Result<void> check_same(const Options& options, const ReloadFacts& facts) {
  if (facts.mode == RunMode::user && ::geteuid() == 0) {
    return fail("this cellblockd runs with --user: its user reloads it");
  }
  if (facts.config_path == options.config) return {};
  return fail(fmt::format("this cellblockd was started with --config={}",
                          printable(facts.config_path, 4096)));
}

// Checks the listener, which is about to get secrets.
Result<void> check_listener(int socket, const Config& config) {
  const ucred listener = CELLBLOCK_TRY(listener_of(socket));
  if (listener.uid == config.identity.uid) return {};
  return fail(fmt::format("uid {} listens there, and cellblockd would be uid {}", listener.uid,
                          config.identity.uid));
}

// Wipes the secrets of servers that only the merge leaves out.
void take_back_secrets(const Config& next, Secrets& secrets) {
  for (std::size_t i = 0; i < next.servers.size() && i < secrets.servers.size(); ++i) {
    if (!next.servers[i].breakage.is_broken()) continue;
    for (std::string& value : secrets.servers[i].values) wipe(value);
    secrets.servers[i].values.clear();
  }
}

struct Brought {
  Difference difference;
  std::vector<ChangedKey> values;
  std::vector<PartLeftOut> broken;
  Sealed sealed;
  Fd owner_mounts;
};

// Makes the mounts before rights are given up. Without the right to make mounts none are sent, and
// the launcher keeps its own.
Result<std::vector<MadeMount>> make_mounts(const InUse& in_use, Config& config) {
  CELLBLOCK_CHECK(assign_owner_ids(config));
  if (may_mount()) return make_owner_mounts(config);
  if (are_kept(in_use.config, config)) return std::vector<MadeMount>{};
  return fail(
      "a declared path of a user's is new and has to be mounted with another owner, which takes "
      "root: run `cellblock reload` as root");
}

// Adds the advice of --partial where that helps.
Result<void> check_taken(const Config& used, Config next, const Difference& changes) {
  const std::string refusal = refusal_of(changes);
  if (refusal.empty()) return {};
  const bool helps = changes.left.empty() && partial_difference(used, next).at_start.empty();
  return fail(refusal +
              (helps ? "; `cellblock reload --partial` leaves that and takes the rest" : ""));
}

Result<Brought> merge(const InUse& in_use, LoadedConfig loaded,
                      const std::vector<MadeMount>& mounts, bool is_partial) {
  keep_marks(in_use.config, loaded.config, loaded.secrets);
  Config next = merged(in_use.config, loaded.config);
  Brought brought;
  brought.difference =
      is_partial ? partial_difference(in_use.config, next) : difference(in_use.config, next);
  Secrets secrets = in_places_of(next, loaded.config, std::move(loaded.secrets));
  take_back_secrets(next, secrets);
  brought.values = changed_keys(in_use.config, next);
  brought.broken = broken_parts(next);
  brought.sealed = CELLBLOCK_TRY(seal(next, secrets));
  brought.owner_mounts = CELLBLOCK_TRY(queue_owner_mounts(next, mounts));
  if (next.servers.size() > max_servers) {
    return fail(
        fmt::format("at most {} servers can be declared, removed ones included, until "
                    "cellblockd is restarted",
                    max_servers));
  }
  if (next.http && next.http->tokens.size() > max_token_places) {
    return fail(
        fmt::format("at most {} tokens can be declared, revoked ones included, until "
                    "cellblockd is restarted",
                    max_token_places));
  }
  CELLBLOCK_CHECK(check_taken(in_use.config, next, brought.difference));
  return brought;
}

// Commands that print secrets run as the daemon's user, as at a start.
Result<void> complete(LoadedConfig& loaded, int socket) {
  CELLBLOCK_CHECK(check_listener(socket, loaded.config));
  CELLBLOCK_CHECK(stop_mounting());
  if (::geteuid() == 0) CELLBLOCK_CHECK(become_user_of(loaded.config));
  CELLBLOCK_CHECK(hide_memory());
  return run_commands(loaded, [](milliseconds) {});
}

Result<Brought> prepare(const Options& options, int socket) {
  const InUse in_use = CELLBLOCK_TRY(take_offer(socket));
  CELLBLOCK_CHECK(check_same(options, in_use.facts));
  take_credentials(in_use.facts, in_use.credentials);
  Options its = options;
  its.mode = in_use.facts.mode;
  if (!in_use.facts.socket.empty()) its.socket = in_use.facts.socket;
  LoadedConfig loaded =
      CELLBLOCK_TRY(load(its, LookPurpose::check, &in_use.config,
                         in_use.credentials.valid() ? &in_use.credentials : nullptr));
  auto mounts = make_mounts(in_use, loaded.config);
  auto completed = mounts ? complete(loaded, socket) : std::unexpected(mounts.error());
  if (!completed) wipe(loaded.secrets);
  CELLBLOCK_CHECK(completed);
  return merge(in_use, std::move(loaded), *mounts, options.partial);
}

int say_failure(const Options& options, std::string_view what, std::string_view why) {
  const std::string text = fmt::format("{}: {}", what, why);
  fmt::print(stderr, "cellblock: {}\n", text);
  if (options.json) fmt::print("{}", reload_error_json(text));
  return 1;
}

constexpr std::string_view no_change = "nothing was changed";
constexpr std::string_view not_known = "see the log for what has become of it";

// Sends the configuration even if nothing differs: a short secret, or a mount below a path, may
// have changed. nullopt: the daemon took it.
std::optional<int> bring(const Options& options, int socket, Brought& brought) {
  const auto sent =
      send_request(socket, {std::move(brought.sealed.config), std::move(brought.sealed.secrets),
                            std::move(brought.sealed.declared), std::move(brought.owner_mounts)});
  if (!sent) return say_failure(options, no_change, sent.error().text());
  const auto refusal = read_answer(socket);
  if (!refusal) return say_failure(options, not_known, refusal.error().text);
  if (!refusal->empty()) return say_failure(options, no_change, *refusal);
  return std::nullopt;
}

}  // namespace

int ask_for_reload(const Options& options) {
  const Fd socket(reload_socket);
  ::alarm(longest_seconds);
  auto brought = prepare(options, socket.get());
  if (!brought) return say_failure(options, no_change, brought.error().text);
  if (!options.dry_run) {
    const auto failed = bring(options, socket.get(), *brought);
    if (failed) return *failed;
  }
  if (options.quiet) return 0;
  const auto tense = options.dry_run ? ReloadTense::would : ReloadTense::done;
  const Difference& changes = brought->difference;
  const auto report = options.json ? &reload_json : &reload_text;
  fmt::print("{}", report(changes, brought->values, brought->broken, tense));
  return 0;
}

}  // namespace cellblock::daemon
