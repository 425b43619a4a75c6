#pragma once

#include <map>
#include <memory>
#include <string>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/run/cell_factory.h"
#include "supervisor/launcher/run/cells.h"
#include "supervisor/launcher/run/channel_closer.h"
#include "supervisor/launcher/run/denial_counts.h"
#include "supervisor/launcher/run/descriptor_receivers.h"
#include "supervisor/launcher/run/egress_helpers.h"
#include "supervisor/launcher/run/home_tasks.h"

namespace cellblock::launcher {

/// What the launcher does once everything is prepared: answers the records of wire.h from the
/// supervisor and from each gateway, and tells both how cells end. A record that is not in the
/// tables ends its sender: a gateway is killed with all its cells; for the supervisor the launcher
/// ends itself.
class Launcher {
 public:
  Launcher(EventLoop& loop, CellFactory factory, Fd supervisor, Fd config_bytes);

  SysResult<void> start();
  /// The supervisor is gone, or every cell is to end: kills all and stops the loop when none is
  /// left.
  void shut_down();
  /// Why it stopped, if not because it was told to; empty otherwise.
  const std::string& failure() const { return failure_; }

 private:
  /// A second: every cell that a user may have, once, or a few of them several times.
  static constexpr std::uint32_t usage_pages = 40;
  static constexpr std::uint32_t usage_pages_of_all = 200;

  /// One user's gateway and the cells that it started.
  struct ServerCell {
    std::uint32_t server = 0;  ///< index
    wire::CellProgram program{};
  };

  struct Gateway {
    std::uint32_t user = 0;
    std::string user_name;  ///< empty: none is needed, or known
    std::uint32_t id = 0;   ///< that it runs under
    Fd channel;
    std::uint64_t cell = 0;
    ServerSet permitted;
    ServerSet withdrawn;  ///< that were permitted once: to ask for them is no offence
    std::map<std::uint64_t, ServerCell> servers;  ///< by cell
    RateBudget usages{usage_pages, usage_pages};
  };

  enum class ReadResult : std::uint8_t { nothing, something };
  ReadResult read_supervisor();
  void obey(const wire::SupervisorRequest& request, std::vector<Fd> fds);
  void start_gateway(const wire::SupervisorRequest& request, std::vector<Fd> fds);
  void permit(std::uint32_t user, const ServerSet& servers);
  void permit_only(std::uint32_t user, const ServerSet& servers);
  void reload(std::vector<Fd> fds);
  void start_audit_writer(std::vector<Fd> fds);
  void audit_writer_ended(std::uint32_t id, const CellFacts& facts);
  void start_http(std::vector<Fd> fds);
  void http_ended(std::uint32_t id, const CellFacts& facts);
  void start_metrics(std::vector<Fd> fds);
  void metrics_ended(std::uint32_t id, const CellFacts& facts);
  void tell_supervisor(wire::LauncherReportKind what, std::uint32_t user,
                       const CellFacts& facts = {});
  void tell_supervisor(wire::LauncherReport report);

  void read_gateway(std::uint32_t user);
  void receive_attached(Gateway& gateway);
  void obey_attached(std::uint32_t user, const AttachedRecord* record);
  bool obey(Gateway& gateway, const wire::GatewayRequest& request);
  bool may_start(const Gateway& gateway, const wire::GatewayRequest& request);
  void end_offender(Gateway& gateway);
  void start_cell(Gateway& gateway, const wire::GatewayRequest& request,
                  const PassedDirectory* workspace = nullptr);
  wire::StartRefusal refusal_for(const Gateway& gateway, const wire::GatewayRequest& request) const;
  void add_server_cell(Gateway& gateway, const wire::GatewayRequest& request,
                       StartedServer started);
  void tell(Gateway& gateway, const wire::CellEvent& event, std::span<const int> fds = {});
  bool uses_home(const Gateway& gateway, std::uint32_t server) const;
  bool obey_about_home(Gateway& gateway, const wire::GatewayRequest& request);
  wire::HomeFacts begin_home_task(const Gateway& gateway, const wire::GatewayRequest& request);
  void tell_home(std::uint32_t user, std::uint32_t request, const wire::HomeFacts& facts);
  void tell_usage(Gateway& gateway, std::uint64_t after);
  bool tell_denial(std::uint32_t user, std::uint64_t cell, const wire::Denial& denial);
  void server_ended(std::uint32_t user, std::uint64_t cell, const CellFacts& facts);
  void gateway_ended(std::uint32_t user, const CellFacts& facts);
  void give_up(std::string why);
  void stop_if_empty();

  EventLoop& loop_;
  CellFactory factory_;
  Fd supervisor_;
  Fd config_bytes_;
  Cells cells_;
  ChannelCloser closer_;
  DescriptorReceivers attachments_;
  HomeTasks homes_;
  EgressHelpers egress_;
  std::map<std::uint32_t, std::unique_ptr<Gateway>> gateways_;
  /// Also of gateways that are gone, until they have ended.
  std::size_t server_cells_ = 0;
  std::map<std::uint32_t, std::size_t> cells_of_;  ///< the same, by user
  RateBudget all_usages_{usage_pages_of_all, usage_pages_of_all};
  bool audit_runs_ = false;
  bool http_runs_ = false;
  std::uint64_t http_cell_ = 0;  ///< while it runs
  bool metrics_run_ = false;
  std::uint64_t metrics_cell_ = 0;  ///< while it runs
  bool shutting_down_ = false;
  std::string failure_;
};

}  // namespace cellblock::launcher
