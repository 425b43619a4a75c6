#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/reload/difference.h"
#include "supervisor/gateway/catalogue/catalogue_runner.h"
#include "supervisor/gateway/catalogue/pin_keeper.h"
#include "supervisor/gateway/catalogue/pinned_catalogues.h"
#include "supervisor/gateway/cell/launcher_channel.h"
#include "supervisor/gateway/cell/shared_cells.h"
#include "supervisor/gateway/cell/spare_cells.h"
#include "supervisor/gateway/cell/start_queue.h"
#include "supervisor/gateway/cell/usage_book.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/checks/user_policy.h"
#include "supervisor/gateway/io/record_channel.h"
#include "supervisor/gateway/name_listener.h"
#include "supervisor/gateway/records/audit_channel.h"
#include "supervisor/gateway/records/audit_limiter.h"
#include "supervisor/gateway/records/cell_incidents.h"
#include "supervisor/gateway/records/meter.h"
#include "supervisor/gateway/records/server_news.h"
#include "supervisor/gateway/session/session_runner.h"
#include "supervisor/gateway/supervisor_channel.h"

/// One user's gateway: the user's sessions, the cells behind them, and what is remembered about
/// both.
namespace cellblock::gateway {

struct GatewayChannels {
  Fd supervisor;
  Fd launcher;
  Fd audit;
  std::unique_ptr<CatalogueStore> catalogues;  ///< null: none are kept on disk
  std::optional<PinStore> pins;                ///< none: likewise
  std::optional<MetricsPage> metrics;          ///< none without [metrics]
};

class Gateway final : private GatewayServices {
 public:
  Gateway(EventLoop& loop, Config config, GatewayChannels channels);

  /// Ends every session, with `daemon.drain` for its calls, and stops the loop when all cells have
  /// ended, or after as long as the slowest server may take. Also when the supervisor closes its
  /// channel.
  void shut_down();

  /// What is only kept so that the next message need not allocate it.
  void forget_scratch() { scanner_ = MessageScanner(); }

 private:
  struct History {
    StderrRing errors;
    ServerIncidents ledger;
    std::optional<LastEnd> last_end;
  };
  /// Questions that the launcher has to answer at one time: more answers than its socket holds
  /// would be lost, and it ends a gateway that cannot be told.
  static constexpr std::size_t max_asked = 64;
  struct Asked {
    CellRunner* cell = nullptr;
    Fd workspace;  ///< for another try
    std::optional<Time> room_until;
  };
  /// How many requests about homes may be under way at one time.
  static constexpr std::size_t most_homes_asked = 16;
  struct HomeAsked {
    std::uint32_t server = 0;
    wire::HomeAction action{};
    std::uint32_t by = 0;
    ControlAnswered answered;
  };
  using EgressReader = RecordReader<wire::EgressEvent>;
  /// Outlives the cell until its egress helper has said its last words.
  struct WatchedCell {
    std::uint32_t server = 0;  ///< metrics::no_server: of a probe
    CellIncidents ledger;
    std::unique_ptr<EgressReader> egress;  ///< null: there is none
    std::unique_ptr<NameListener> names;   ///< null: it has a network, or another resolver
    bool ended = false;
  };

  // GatewayServices
  EventLoop& loop() override { return loop_; }
  const Config& config() const override { return config_; }
  UpstreamIds& ids() override { return ids_; }
  MessageScanner& scanner() override { return scanner_; }
  Catalogues& catalogues() override { return shown_; }
  PinBook& pins() override { return pins_.book(); }
  KeptTotal& kept_total() override { return kept_total_; }
  Sealer& sealer() override { return sealer_; }
  UserPolicy& policy() override { return policy_; }
  void start_cell(CellRunner& cell, Fd workspace) override {
    start_queue_.start(cell, std::move(workspace));
  }
  void withdraw_start(const CellRunner& cell) override { start_queue_.withdraw(cell); }
  void handshake_answered(const CellRunner& cell) override;
  std::unique_ptr<CellRunner> make_cell(const CellPlan& plan, const CellOwner& owner, Fd workspace,
                                        CellKeeper& keeper) override;
  void expect_cell(std::uint32_t server) override { spares_.expect(server); }
  void terminate_cell(std::uint64_t cell) override { launcher_.terminate_cell(cell); }
  void kill_cell(std::uint64_t cell) override { launcher_.kill_cell(cell); }
  ServerCell& shared_cell(std::uint32_t server) override { return shared_.cell_of(server); }
  std::size_t queued_for_shared(std::uint32_t server) const override {
    return shared_.queued(server);
  }
  void record(const AuditEntry& record) override;
  AuditState audit_state() const override { return audit_.state(); }
  void when_recorded(std::function<void(AuditState)> then) override {
    audit_.when_written(std::move(then));
  }
  void answer_control(const ControlRequest& request, const Peer& peer,
                      ControlAnswered answered) override;
  StderrRing& stderr_ring(std::uint32_t server) override { return history_[server].errors; }
  const DeniedLog& denied(std::uint32_t server) const override {
    return history_[server].ledger.denied;
  }
  void remember_end(const CellRunner& cell, const Failure& failure) override;
  void host_closed(SessionRunner& session) override;
  void finished(SessionRunner& session) override;
  void give_up(std::string_view why) override;

  SupervisorChannel::Receiver supervisor_receiver();
  LauncherChannel::Receiver launcher_receiver();
  SharedCells::Hooks shared_hooks();
  SpareCells::Hooks spare_hooks();
  StartQueue::Hooks start_hooks();

  void give_up_on(std::string_view whom, std::string_view why);
  void open_session(const wire::SessionGrant& grant, Fd connection);
  void reconfigure(const Fd& sealed);
  void reconfigure(const ChangedServer& changed);
  void reconfigure_sessions(const Difference& changes);
  void ask_launcher(CellRunner& cell, Fd workspace, std::optional<Time> room_until);
  void cell_event(const wire::CellEvent& event, std::vector<Fd> pipes);
  void cell_answered(const wire::CellEvent& event, std::vector<Fd> pipes);
  void cell_refused(Asked asked, const wire::CellEvent& event);
  void charge_to_session(const CellRunner& cell);
  bool make_room(const CellRunner& wanted, wire::StartRefusal refusal, std::size_t claims);
  void cell_news(const wire::CellEvent& event);
  void cell_denied(const wire::CellEvent& event);
  void cell_lost(CellRunner& cell, const wire::CellEvent& event);
  void watch_cell(const CellRunner& cell, Fd more);
  std::unique_ptr<EgressReader> egress_reader(std::uint64_t cell, Fd channel);
  void end_egress(std::uint64_t cell, std::string_view why);
  void egress_event(std::uint64_t cell, const wire::EgressEvent& event);
  void forget_if_done(std::uint64_t cell);
  void meter(const wire::AuditRecord& record);
  void look_at_queues();
  void look_at_memory();
  void ask_home(const ControlRequest& request, const Peer& peer, ControlAnswered answered);
  void home_told(const wire::CellEvent& event);
  std::string answer_now(const ControlRequest& request, const Peer& peer);
  void when_usage_known(std::function<void()> then);
  void usage_told(const wire::UsagePage& page);
  std::string status(const Peer& peer) const;
  std::string pins_of(const ControlRequest& request, const Peer& peer) const;
  std::vector<CellRow> shared_rows(std::uint32_t server) const;
  void settle_sharing();
  bool may_use(std::uint32_t server) const;
  /// Nothing speaks against starting it.
  bool is_well(std::uint32_t server) const;
  bool has_session_of_servers() const;
  bool may_start_spare(std::uint32_t server) const;
  void start_nothing_if_drained();
  void end_if_empty();
  std::size_t stop_cells(std::uint32_t server, ControlMethod why);
  std::string allow_next(std::uint32_t server, const ControlRequest& request, const Peer& peer);
  std::string decided(std::uint32_t server, std::string reply);

  EventLoop& loop_;
  Config config_;
  std::vector<History> history_;  ///< by server index
  ServerIncidents probes_;        ///< of all servers' probes; shown nowhere
  IncidentBudgets incidents_;
  UpstreamIds ids_;
  MessageScanner scanner_;
  Sealer sealer_;
  KeptTotal kept_total_;
  UserPolicy policy_;  ///< before the sessions, whose calls have places in it
  SupervisorChannel supervisor_;
  LauncherChannel launcher_;
  UsageBook usage_;
  Timer usage_late_;
  AuditChannel audit_;
  std::optional<std::uint32_t> uid_;  ///< whose gateway this is: the first grant says it
  Peer user_;                         ///< as he connected last: to what an administrator sees
  bool shutting_down_ = false;
  bool ending_ = false;
  Timer patience_;
  AuditLimiter limiter_;
  ServerNews news_;
  Timer sums_due_;
  Meter meter_;
  Timer queues_due_;
  Timer memory_due_;
  PinKeeper pins_;
  CatalogueRunner catalogues_;
  PinnedCatalogues shown_;  ///< of the catalogues
  SharedCells shared_;
  SpareCells spares_;
  StartQueue start_queue_;

  std::map<std::uint32_t, std::unique_ptr<SessionRunner>> sessions_;  ///< by connection
  std::unordered_map<std::uint32_t, Asked> asked_;                    ///< by request
  std::unordered_map<std::uint32_t, HomeAsked> homes_asked_;          ///< by request
  std::unordered_map<std::uint64_t, CellRunner*> cells_;              ///< by cell
  std::unordered_map<std::uint64_t, WatchedCell> watched_;            ///< by cell
  std::set<std::uint64_t> lost_cells_;                                ///< until they have ended
  std::uint32_t next_request_ = 1;
};

}  // namespace cellblock::gateway
