#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/session/session.h"

/// A session and its cells without a gateway: the test plays host, launcher and server.
namespace cellblock::gateway::testing {

using Json = nlohmann::json;
using wire::AuditKind;
using wire::AuditOutcome;

/// What is known of servers is what the test says.
struct FakeCatalogues final : Catalogues {
  const Catalogue* find(std::uint32_t) const override { return known ? &*known : nullptr; }
  Eras eras(std::uint32_t) const override { return speaks; }
  std::optional<Broken> broken(std::uint32_t) const override { return {}; }
  Waiter want(std::uint32_t, Told told) override {
    waiting.emplace_back(++last, std::move(told));
    return last;
  }
  void forget(Waiter waiter) override {
    std::erase_if(waiting, [waiter](const auto& one) { return one.first == waiter; });
  }
  void learn_list(std::uint32_t, ListKind, std::string_view) override { ++learnt; }
  void learn_answer(std::uint32_t, Era, std::string_view) override { ++learnt; }
  void learn_speaks(std::uint32_t, Era era, Speaks how) override {
    (era == Era::legacy ? speaks.legacy : speaks.modern) = how;
  }
  void list_changed(std::uint32_t, ListKind kind) override { changed.push_back(kind); }
  void forget_server(std::uint32_t) override {}

  /// Ends every wait, with the catalogue if there is one.
  void tell(const Failure& failure = {}) {
    for (auto& [waiter, told] : std::exchange(waiting, {})) told(find(0), failure);
  }

  std::optional<Catalogue> known;
  Eras speaks;
  std::vector<std::pair<Waiter, Told>> waiting;
  std::vector<ListKind> changed;
  int learnt = 0;
  Waiter last = 0;
};

/// Rings when the test says so.
struct FakeAlarm final : Alarm {
  FakeAlarm(Rings its, std::vector<FakeAlarm*>& those) : rings(std::move(its)), all(those) {
    all.push_back(this);
  }
  ~FakeAlarm() override { std::erase(all, this); }
  FakeAlarm(const FakeAlarm&) = delete;
  FakeAlarm& operator=(const FakeAlarm&) = delete;
  void set(std::optional<Milliseconds> from_now) override { due = from_now; }

  Rings rings;
  std::vector<FakeAlarm*>& all;
  std::optional<Milliseconds> due;
};

/// Writes down what the session and its cell want done.
struct Recorder final : SessionEffects, CellEffects {
  explicit Recorder(const Config& config, MessageScanner& scanner)
      : config_(config), scanner_(scanner) {}

  std::vector<std::string> texts;  ///< of notes that have one
  std::vector<Sha256> digests;     ///< of calls
  std::vector<std::string> spans;  ///< of notes that have one
  void to_host(Slices message) override { host.push_back(line_of(message)); }
  void to_cell(Slices message) override { cell.push_back(line_of(message)); }
  void record(const AuditNote& note) override {
    notes.emplace_back(note.kind, note.outcome);
    if (!note.traceparent.empty()) spans.emplace_back(note.traceparent);
    if (!note.text.empty()) texts.emplace_back(note.text);
    if (note.kind == wire::AuditKind::call) digests.push_back(note.arguments);
  }
  void record(const AuditPlace&, const AuditNote& note) override { record(note); }
  AuditState audit_state() const override { return audit; }
  void when_recorded(WhenRecorded then) override {
    if (holds_records) {
      unrecorded.push_back(std::move(then));
    } else {
      then(audit, Time{});
    }
  }
  void to_control(std::string_view line) override { control.emplace_back(line); }
  DescriptorsTaken take_descriptors(const DescriptorOffer& offer) override {
    holds_workspace = offer.workspace == WorkspaceOffer::offered;
    return {
        .stdio = stdio && offer.stdio == StdioOffer::offered,
        .workspace = offer.workspace == WorkspaceOffer::offered ? workspace : WorkspaceFound::none};
  }
  void drop_workspace() override { holds_workspace = false; }
  void host_asked(std::string_view id, CallShape) override { host_ids.emplace_back(id); }
  void set_host_flow(HostFlow now) override { flow = now; }
  void prefill_host(std::string_view bytes) override { prefilled += bytes; }
  std::optional<std::string> stop_reading_host() override { return unread; }
  void tell_when_delivered(std::string line, std::string) override {
    control.push_back(std::move(line));
  }
  void close_host() override { did.emplace_back("close_host"); }
  void expect_cell(std::uint32_t server) override { expected.push_back(server); }
  ServerCell& make_cell(const CellPlan& plan) override {
    if (lent != nullptr && lent->takes_users()) return *lent;
    CellEffects& effects = *this;
    cells.push_back(
        std::make_unique<ServerCell>(config_.servers[plan.server], plan, scanner_, effects));
    return *cells.back();
  }
  std::unique_ptr<Alarm> make_alarm(Alarm::Rings rings) override {
    return std::make_unique<FakeAlarm>(std::move(rings), alarms);
  }
  /// All that are set, whenever that is.
  void ring(Time now) {
    for (FakeAlarm* alarm : std::vector(alarms)) {
      if (std::ranges::count(alarms, alarm) != 0 && std::exchange(alarm->due, std::nullopt)) {
        alarm->rings(now);
      }
    }
  }
  /// The earliest of them.
  std::optional<Milliseconds> next_alarm() const {
    std::optional<Milliseconds> next;
    for (const FakeAlarm* alarm : alarms) {
      if (alarm->due && (!next || *alarm->due < *next)) next = alarm->due;
    }
    return next;
  }
  Catalogues& catalogues() override { return fake_catalogues; }
  Catalogues::Waiter want_catalogue(std::uint32_t server, Told told) override {
    return fake_catalogues.want(
        server, [told = std::move(told)](const Catalogue* catalogue, const Failure& failure) {
          told(catalogue, failure, Time{});
        });
  }
  void start_cell() override {
    const auto program = cells.back()->plan().program;
    did.emplace_back(program == wire::CellProgram::probe ? "start_probe" : "start_cell");
  }
  void withdraw_start() override { did.emplace_back("withdraw_start"); }
  void handshake_answered() override { ++handshakes; }
  bool has_room(std::size_t bytes) const override { return bytes <= room; }
  void keep_log(std::string_view text) override { logs.emplace_back(text); }
  void settle_soon() override {}
  void close_cell_input() override { did.emplace_back("close_cell_input"); }
  void terminate_cell() override { did.emplace_back("terminate_cell"); }
  void kill_cell() override { did.emplace_back("kill_cell"); }
  void protocol_broken() override { did.emplace_back("protocol_broken"); }
  /// The session's and its cell's alike: no test has both at once.
  void set_deadline(std::optional<Milliseconds> from_now) override { deadline = from_now; }
  void answer_control(const ControlRequest&, ControlAnswered answered) override {
    if (!holds_control) return answered("{}", Time{});
    held_control.push_back(std::move(answered));
  }
  std::vector<std::string> stderr_tail() override { return {"last words"}; }
  std::optional<RefusedNetwork> refused_network(Time since) override {
    refused_since.push_back(since);
    return refused;
  }
  void remember_end(const Failure& failure) override { ends.push_back(failure); }

  static std::string line_of(Slices message) {
    std::string line;
    for (const auto slice : message) line += slice;
    EXPECT_TRUE(line.ends_with('\n'));
    line.pop_back();
    return line;
  }

  Json last_to_host() const { return host.empty() ? Json{} : Json::parse(host.back()); }
  Json last_to_cell() const { return cell.empty() ? Json{} : Json::parse(cell.back()); }

  std::vector<std::string> host, cell, control, did, logs;
  std::vector<std::pair<AuditKind, AuditOutcome>> notes;
  std::vector<Failure> ends;
  std::optional<RefusedNetwork> refused;  ///< by a cell, whenever that was
  std::vector<Time> refused_since;        ///< as was asked
  int handshakes = 0;
  std::optional<Milliseconds> deadline;
  std::vector<std::uint32_t> expected;
  std::vector<FakeAlarm*> alarms;  ///< outlives the machines that have them
  HostFlow flow = HostFlow::flowing;
  AuditState audit = AuditState::writable;
  bool holds_records = false;
  bool holds_control = false;
  std::vector<ControlAnswered> held_control;
  std::vector<WhenRecorded> unrecorded;
  bool stdio = false;
  std::string prefilled;
  std::optional<std::string> unread = "";
  bool holds_workspace = false;
  std::vector<std::string> host_ids;  ///< of requests, as the journal is told
  WorkspaceFound workspace = WorkspaceFound::directory;
  std::vector<std::unique_ptr<ServerCell>> cells;
  std::size_t room = 1U << 20;
  ServerCell* lent = nullptr;  ///< another session's, where they share it
  FakeCatalogues fake_catalogues;

 private:
  const Config& config_;
  MessageScanner& scanner_;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    Server server;
    server.name = "files";
    server.rules = {short_form({1000}, {}, {{"read_", true}})};
    server.lines.from_host = 2000;
    server.lines.to_host = 2000;
    server.stop.idle.reset();  // the deadline of a cell is something else then
    config_.servers = {server};
  }

  /// The scanner reads a little beyond the line.
  void host_says(std::string line) {
    line_ = std::move(line);
    const std::size_t size = line_.size();
    line_.resize(size + MessageScanner::padding);
    session().host_line(std::string_view(line_).substr(0, size), now_);
  }
  void cell_says(std::string line) {
    line_ = std::move(line);
    const std::size_t size = line_.size();
    line_.resize(size + MessageScanner::padding);
    cell().line(std::string_view(line_).substr(0, size), now_);
  }

  /// The one that was asked for last.
  ServerCell& cell() { return *effects_.cells.back(); }
  Session& session() {
    if (!session_) {
      session_.emplace(peer_, SharedParts{config_, ids_, scanner_, sealer_, policy(), pins_},
                       effects_);
    }
    return *session_;
  }
  /// Before the session is asked for.
  Peer peer_{.session = 12, .uid = 1000, .gid = 1000, .pid = 1, .groups = {}};

  /// As the configuration is when it is asked for first.
  UserPolicy& policy() {
    if (!policy_) policy_.emplace(config_);
    return *policy_;
  }

  void attach(std::string_view more = "") {
    host_says(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files")" +
              std::string(more) + "}}");
  }
  void cell_runs() {
    cell().started(37, now_);
    cell().running(now_);
  }
  void attach_and_run(std::string_view more = "") {
    attach(more);
    cell_runs();
  }
  /// Answers the last request that the server got.
  void server_answers(std::string_view result) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() + R"(,"result":)" +
              std::string(result) + "}");
  }
  /// Sends a request of the host and returns the id that the server sees.
  std::string ask(std::string line) {
    host_says(std::move(line));
    return effects_.last_to_cell()["id"].dump();
  }

  Config config_;
  UpstreamIds ids_{[](std::span<std::byte> bytes) {
    static std::uint32_t next = 1;  // no id twice while a test runs
    for (std::byte& byte : bytes) {
      next = next * 1'664'525U + 1'013'904'223U;
      byte = static_cast<std::byte>(next >> 24U);
    }
  }};
  Sealer sealer_{[](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{7}); }};
  MessageScanner scanner_;
  Recorder effects_{config_, scanner_};
  Time now_{};
  std::string line_;
  std::optional<UserPolicy> policy_;
  PinBook* pins_ = nullptr;
  std::optional<Session> session_;
};

}  // namespace cellblock::gateway::testing
