#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/gateway/audit_record.h"
#include "supervisor/gateway/cell_link.h"
#include "supervisor/gateway/host_link.h"
#include "supervisor/gateway/session.h"
#include "supervisor/gateway/status_report.h"

/// One session with its descriptors: carries out what the machine (session.h) decides.
namespace cellblock::gateway {

class SessionRunner;

struct CellWanted {
  std::uint32_t server = 0;
  wire::CellProgram program = wire::CellProgram::server;
  Fd workspace;  ///< not valid: none
};

/// What a session needs of the rest of the gateway.
class GatewayServices {
 public:
  virtual EventLoop& loop() = 0;
  virtual const Config& config() const = 0;
  virtual UpstreamIds& ids() = 0;
  virtual MessageScanner& scanner() = 0;

  virtual void start_cell(SessionRunner& session, CellWanted wanted) = 0;
  virtual void terminate_cell(std::uint64_t cell) = 0;
  virtual void kill_cell(std::uint64_t cell) = 0;

  virtual void record(const wire::AuditRecord& record) = 0;
  virtual AuditState audit_state() const = 0;
  virtual std::string answer_control(const ControlRequest& request, const Peer& peer) = 0;
  virtual StderrRing& stderr_ring(std::uint32_t server) = 0;
  virtual void remember_end(std::uint32_t server, const Failure& failure) = 0;

  virtual void host_closed(SessionRunner& session) = 0;  ///< once
  virtual void finished(SessionRunner& session) = 0;     ///< destroys it at the end of the turn
  virtual void give_up(std::string_view why) = 0;        ///< ends the gateway

 protected:
  ~GatewayServices() = default;
};

class SessionRunner final : private SessionEffects {
 public:
  SessionRunner(GatewayServices& services, Peer peer, Fd connection);

  void cell_started(std::uint64_t cell, std::vector<Fd> pipes);
  void cell_refused(const wire::CellEvent& event);
  void cell_running();
  void cell_ended(const CellFacts& facts);
  void stop(Session::StopReason reason);

  const Session& session() const { return session_; }
  /// For records about this session's cell. The name lives as long as the configuration.
  AuditOrigin origin() const;
  CellRow row(Time now) const;

 private:
  // ConversationEffects
  void to_host(Slices message) override;
  void to_cell(Slices message) override;
  void record(const AuditNote& note) override;
  AuditState audit_state() const override { return services_.audit_state(); }

  // SessionEffects
  void to_control(std::string_view line) override { host_.to_control(line); }
  DescriptorsTaken take_descriptors(const DescriptorOffer& offer) override {
    return host_.take_descriptors(offer);
  }
  void set_host_flow(HostFlow flow) override { host_.set_flow(flow); }
  void close_host() override { host_.close(); }
  void start_cell(std::uint32_t server, wire::CellProgram program) override {
    services_.start_cell(*this, {server, program, host_.take_workspace()});
  }
  void close_cell_input() override;
  void terminate_cell() override { services_.terminate_cell(session_.cell()); }
  void kill_cell() override { services_.kill_cell(session_.cell()); }
  void protocol_broken() override { services_.give_up("the launcher's events make no sense"); }
  void set_deadline(std::optional<Milliseconds> from_now) override;
  std::string answer_control(const ControlRequest& request) override;
  std::vector<std::string> stderr_tail(std::uint64_t cell) override;
  void remember_end(std::uint32_t server, const Failure& failure) override;

  Time now() const { return services_.loop().now(); }
  HostLink::Receiver host_receiver();
  CellLink::Receiver cell_receiver();
  void settle();
  void finish_cell();
  void check_writers();
  void balance();
  void retire();

  GatewayServices& services_;
  Session session_;
  HostLink host_;
  std::unique_ptr<CellLink> cell_;
  Timer deadline_;
  std::optional<CellFacts> facts_;  ///< the cell has ended, its last words are being read
  bool overflow_logged_ = false;
  bool host_reported_ = false;
  bool finished_ = false;
};

}  // namespace cellblock::gateway
