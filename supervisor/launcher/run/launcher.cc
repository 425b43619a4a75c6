#include "supervisor/launcher/run/launcher.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>

#include "supervisor/launcher/run/cell_bounds.h"
#include "supervisor/launcher/run/descriptor_receivers.h"

namespace cellblock::launcher {
namespace {

using wire::CellEventKind;
using wire::GatewayRequestKind;
using wire::LauncherReportKind;
using wire::StartRefusal;
using wire::SupervisorRequestKind;

constexpr std::size_t gateway_fds = 2;  ///< its ends towards supervisor and audit writer
constexpr std::size_t metrics_fds = 2;  ///< its end towards the supervisor, and a listener
constexpr std::size_t audit_fds = 4;    ///< control, and the log's (wire::audit_fd)
constexpr std::size_t http_fds = 2;     ///< its end towards the supervisor, and a listener
constexpr std::size_t reload_fds = 4;   ///< configuration, secrets, mount namespace, mounts

// A refused or failed start as the gateway is told it.
wire::CellEvent refused(std::uint32_t request, StartRefusal refusal, const CellFacts& facts = {}) {
  return {.kind = CellEventKind::refused, .refusal = refusal, .request = request, .facts = facts};
}

// The second, with a report of ours that was not read any more.
bool has_closed(const SysError& error) {
  return error.number == EPIPE || error.number == ECONNRESET;
}

bool has_sound_name(const wire::SupervisorRequest& request) {
  const std::string_view name(request.user.data(), request.user_length);
  return name.empty() || is_user_name(name);
}

}  // namespace

Launcher::Launcher(EventLoop& loop, CellFactory factory, Fd supervisor, Fd config_bytes)
    : loop_(loop),
      factory_(std::move(factory)),
      supervisor_(std::move(supervisor)),
      config_bytes_(std::move(config_bytes)),
      cells_(loop),
      closer_(loop),
      attachments_(loop),
      homes_(loop),
      egress_(factory_, cells_, [this] { stop_if_empty(); }) {}

SysResult<void> Launcher::start() {
  CELLBLOCK_CHECK(loop_.watch_input(supervisor_.get(), [this] { read_supervisor(); }));
  NetworkPool& networks = factory_.networks();
  CELLBLOCK_CHECK(loop_.watch_input(networks.timer(), [&networks] { networks.refill(); }));
  return send_record(supervisor_.get(), wire::LauncherReport{.kind = LauncherReportKind::ready});
}

void Launcher::shut_down() {
  if (!shutting_down_) loop_.forget(supervisor_.get());
  shutting_down_ = true;
  cells_.kill_all();
  stop_if_empty();
}

void Launcher::give_up(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  shut_down();
}

void Launcher::stop_if_empty() {
  if (shutting_down_ && cells_.empty()) loop_.stop();
}

// --- the supervisor's requests -------------------------------------------------------------------

Launcher::ReadResult Launcher::read_supervisor() {
  wire::SupervisorRequest request;
  auto received = receive_record(supervisor_.get(), request, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return ReadResult::nothing;
  if (received) {
    obey(request, std::move(received->fds));
  } else if (has_closed(received.error())) {
    shut_down();
  } else {
    give_up("the supervisor sent nonsense: " + received.error().text());
  }
  return shutting_down_ ? ReadResult::nothing : ReadResult::something;
}

void Launcher::obey(const wire::SupervisorRequest& request, std::vector<Fd> fds) {
  switch (request.kind) {
    case SupervisorRequestKind::start_gateway:
      if (fds.size() != gateway_fds + (factory_.config().metrics ? 1 : 0)) break;
      if (gateways_.contains(request.uid)) break;
      if (!has_sound_name(request)) break;
      return start_gateway(request, std::move(fds));
    case SupervisorRequestKind::start_audit:
      if (fds.size() != audit_fds || audit_runs_) break;
      return start_audit_writer(std::move(fds));
    case SupervisorRequestKind::start_http:
      if (fds.empty() || fds.size() > http_fds || http_runs_ || !factory_.config().http) break;
      return start_http(std::move(fds));
    case SupervisorRequestKind::end_http:
      // Not there: as below.
      if (http_runs_) cells_.kill(http_cell_);
      return;
    case SupervisorRequestKind::start_metrics:
      if (fds.size() != metrics_fds || metrics_run_ || !factory_.config().metrics) break;
      return start_metrics(std::move(fds));
    case SupervisorRequestKind::end_metrics:
      if (metrics_run_) cells_.kill(metrics_cell_);
      return;
    case SupervisorRequestKind::end_gateway:
      // Not there: its end is on the way already.
      if (gateways_.contains(request.uid)) cells_.kill(gateways_[request.uid]->cell);
      return;
    case SupervisorRequestKind::permit:
      return permit(request.uid, request.servers);
    case SupervisorRequestKind::permit_only:
      return permit_only(request.uid, request.servers);
    case SupervisorRequestKind::reload:
      if (fds.size() != reload_fds) break;
      return reload(std::move(fds));
    case SupervisorRequestKind::ping:
      if (fds.empty()) return tell_supervisor(LauncherReportKind::pong, 0);
      break;
    case SupervisorRequestKind::ids_mapped:  // only before start()
      break;
  }
  give_up("the supervisor sent a request that is not permitted now");
}

void Launcher::tell_supervisor(LauncherReportKind what, std::uint32_t user,
                               const CellFacts& facts) {
  tell_supervisor({.kind = what, .uid = user, .facts = facts});
}

void Launcher::tell_supervisor(wire::LauncherReport report) {
  report.cells = static_cast<std::uint32_t>(server_cells_);
  // The supervisor never stops reading; if its queue is full all the same, nothing can be trusted
  // to be known there any more.
  const auto told = send_record(supervisor_.get(), report, {}, MSG_DONTWAIT);
  if (!told && !shutting_down_) give_up("cannot tell the supervisor: " + told.error().text());
}

void Launcher::start_gateway(const wire::SupervisorRequest& request, std::vector<Fd> fds) {
  const std::uint32_t user = request.uid;
  const bool room = closer_.has_room(user);
  auto channel = make_seqpacket_pair();
  if (!room || !channel) {
    const SetupFailure failure{SetupStep::prepare, room ? channel.error().number : EUSERS};
    return tell_supervisor(LauncherReportKind::gateway_ended, user, failure.facts());
  }
  std::vector<int> channels = {fds[0].get(), channel->second.get(), fds[1].get(),
                               config_bytes_.get()};
  if (fds.size() > gateway_fds) channels.push_back(fds[gateway_fds].get());
  auto started = factory_.start_gateway(user, channels);
  if (!started) {
    return tell_supervisor(LauncherReportKind::gateway_ended, user, started.error().facts());
  }
  auto gateway = std::make_unique<Gateway>();
  gateway->user = user;
  gateway->user_name.assign(request.user.data(), request.user_length);
  gateway->permitted = request.servers;
  gateway->id = started->id;
  gateway->channel = std::move(channel->first);
  const int descriptor = gateway->channel.get();
  Gateway& added = *(gateways_[user] = std::move(gateway));
  const auto cell =
      cells_.add(std::move(started->cell),
                 {[this, user] { tell_supervisor(LauncherReportKind::gateway_started, user); },
                  [this, user](const CellFacts& facts) { gateway_ended(user, facts); }});
  const auto watched = loop_.watch_input(descriptor, [this, user] { read_gateway(user); });
  if (!cell || !watched) return give_up("cannot watch a gateway");
  added.cell = *cell;
}

void Launcher::gateway_ended(std::uint32_t user, const CellFacts& facts) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  loop_.forget(found->second->channel.get());
  for (const auto& [cell, what] : found->second->servers) cells_.kill(cell);
  factory_.give_back(found->second->id);
  // The channel may hold unread records with descriptors.
  attachments_.forget(user);
  closer_.add(user, std::move(found->second->channel));
  gateways_.erase(found);
  if (!shutting_down_) tell_supervisor(LauncherReportKind::gateway_ended, user, facts);
  stop_if_empty();
}

// --- a gateway's requests ------------------------------------------------------------------------

void Launcher::read_gateway(std::uint32_t user) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  Gateway& gateway = *found->second;
  const GatewayRecord record = receive_from_gateway(gateway.channel.get());
  switch (record.kind) {
    case GatewayRecord::Kind::nothing:
      return;
    case GatewayRecord::Kind::request:
      if (!obey(gateway, record.request)) end_offender(gateway);
      return;
    case GatewayRecord::Kind::attached:
      return receive_attached(gateway);
    case GatewayRecord::Kind::closed:
      // A gateway that is just ending: what it ends with is to be told.
      loop_.forget(gateway.channel.get());
      return cells_.expect_end(gateway.cell);
    case GatewayRecord::Kind::nonsense:
      return end_offender(gateway);
  }
}

void Launcher::end_offender(Gateway& gateway) {
  loop_.forget(gateway.channel.get());
  cells_.kill(gateway.cell);
}

// What is attached never comes into this process, which could not get rid of it in time. Its
// channel is the child's until it has ended.
void Launcher::receive_attached(Gateway& gateway) {
  const std::uint32_t user = gateway.user;
  loop_.forget(gateway.channel.get());
  const auto begun = attachments_.receive(
      user, gateway.channel.get(),
      [this, user](const AttachedRecord* record) { obey_attached(user, record); });
  if (!begun) end_offender(gateway);
}

void Launcher::obey_attached(std::uint32_t user, const AttachedRecord* record) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  Gateway& gateway = *found->second;
  const bool permitted = record != nullptr && record->kind == AttachedRecord::Kind::request &&
                         record->request.kind == GatewayRequestKind::start_cell &&
                         may_start(gateway, record->request);
  if (!permitted) return end_offender(gateway);
  const PassedDirectory workspace = record->directory();
  start_cell(gateway, record->request, &workspace);
  if (!loop_.watch_input(gateway.channel.get(), [this, user] { read_gateway(user); })) {
    end_offender(gateway);
  }
}

// False: that was an offence.
bool Launcher::obey(Gateway& gateway, const wire::GatewayRequest& request) {
  const bool owns = gateway.servers.contains(request.cell);
  switch (request.kind) {
    case GatewayRequestKind::start_cell:
      if (!may_start(gateway, request)) return false;
      start_cell(gateway, request);
      return true;
    // A cell that is gone already is no offence: its end may be on the way to the gateway.
    case GatewayRequestKind::terminate_cell:
      if (owns) cells_.terminate(request.cell);
      return true;
    case GatewayRequestKind::kill_cell:
      if (owns) cells_.kill_server(request.cell);
      return true;
    case GatewayRequestKind::usage:
      tell_usage(gateway, request.cell);
      return true;
    case GatewayRequestKind::home:
      return obey_about_home(gateway, request);
  }
  return false;
}

// A permission is sent before the connection that it is for, but over another channel, which may
// come second here: before a gateway is called an offender, what the supervisor said is heard.
bool Launcher::may_start(const Gateway& gateway, const wire::GatewayRequest& request) {
  if (request.program > wire::CellProgram::survey) return false;
  const std::uint32_t server = request.server_index;
  while (!gateway.permitted.contains(server)) {
    if (shutting_down_ || read_supervisor() == ReadResult::nothing) break;
  }
  // It may have asked before it could hear that this server was taken from it.
  const bool ever = gateway.permitted.contains(server) || gateway.withdrawn.contains(server);
  return ever && server < factory_.config().servers.size();
}

// A survey takes no session's place, and none takes its.
StartRefusal Launcher::refusal_for(const Gateway& gateway,
                                   const wire::GatewayRequest& request) const {
  const Config& config = factory_.config();
  const Server& server = config.servers[request.server_index];
  if (!config.enabled || !server.is_usable()) return StartRefusal::disabled;
  if (!gateway.permitted.contains(request.server_index)) return StartRefusal::not_permitted;
  if (homes_.is_clearing(server.name, gateway.user)) return StartRefusal::home_in_use;
  const bool survey = request.program == wire::CellProgram::survey;
  const auto running = std::ranges::count_if(gateway.servers, [&](const auto& entry) {
    const ServerCell& cell = entry.second;
    return cell.server == request.server_index &&
           (cell.program == wire::CellProgram::survey) == survey;
  });
  const auto of_user = cells_of_.find(gateway.user);
  return over_bound({.in_all = server_cells_,
                     .of_user = of_user == cells_of_.end() ? 0 : of_user->second,
                     .of_server_and_user = static_cast<std::size_t>(running)},
                    config.cells, survey ? 1 : server.max_cells_per_user);
}

void Launcher::start_cell(Gateway& gateway, const wire::GatewayRequest& request,
                          const PassedDirectory* workspace) {
  if (const auto refusal = refusal_for(gateway, request); refusal != StartRefusal::none) {
    return tell(gateway, refused(request.request, refusal));
  }
  auto started = factory_.start_server(request.server_index, {gateway.user, gateway.user_name},
                                       request.program, workspace);
  if (!started) {
    const SetupFailure& failure = started.error();
    return tell(gateway, refused(request.request, failure.refusal, failure.facts()));
  }
  add_server_cell(gateway, request, std::move(*started));
}

void Launcher::add_server_cell(Gateway& gateway, const wire::GatewayRequest& request,
                               StartedServer started) {
  const std::uint32_t user = gateway.user;
  const auto number = std::make_shared<std::uint64_t>(0);
  const auto cell = cells_.add(
      std::move(started.cell),
      {[this, user, number] {
         const auto found = gateways_.find(user);
         if (found == gateways_.end()) return;
         tell(*found->second, {.kind = CellEventKind::running, .cell = *number});
       },
       [this, user, number](const CellFacts& facts) { server_ended(user, *number, facts); },
       [this, user, number](const wire::Denial& denial) {
         return tell_denial(user, *number, denial);
       }});
  if (!cell) {
    const SetupFailure failure{SetupStep::prepare, cell.error().number};
    return tell(gateway, refused(request.request, StartRefusal::setup_failed, failure.facts()));
  }
  *number = *cell;
  ++server_cells_;
  ++cells_of_[user];
  gateway.servers[*cell] = {request.server_index, request.program};
  std::vector<int> ends = {started.stdio.input.get(), started.stdio.output.get(),
                           started.stdio.errors.get()};
  if (started.egress) {
    egress_.start(*cell, *started.egress);
    ends.push_back(started.egress->events.first.get());
  }
  if (started.resolver.valid()) ends.push_back(started.resolver.get());
  tell(gateway, {.kind = CellEventKind::started, .request = request.request, .cell = *cell}, ends);
}

void Launcher::server_ended(std::uint32_t user, std::uint64_t cell, const CellFacts& facts) {
  egress_.cell_ended(cell);
  --server_cells_;
  if (--cells_of_[user] == 0) cells_of_.erase(user);
  const auto found = gateways_.find(user);
  if (found != gateways_.end() && found->second->servers.erase(cell) > 0) {
    tell(*found->second, {.kind = CellEventKind::ended, .cell = cell, .facts = facts});
  }
  stop_if_empty();
}

// A gateway that lets its events pile up until the socket is full has lost touch with its cells.
void Launcher::tell(Gateway& gateway, const wire::CellEvent& event, std::span<const int> fds) {
  if (!send_record(gateway.channel.get(), event, fds, MSG_DONTWAIT)) cells_.kill(gateway.cell);
}

// Homes that servers keep: looked at and cleared for their users.

using wire::HomeAction;
using wire::HomeAnswer;

// Cells of a gateway that is gone may still be ending.
bool Launcher::uses_home(const Gateway& gateway, std::uint32_t server) const {
  const auto of_user = cells_of_.find(gateway.user);
  const std::size_t running = of_user == cells_of_.end() ? 0 : of_user->second;
  return running != gateway.servers.size() ||
         std::ranges::any_of(gateway.servers, [server](const auto& entry) {
           return entry.second.server == server && entry.second.program != wire::CellProgram::probe;
         });
}

// False: that was an offence.
bool Launcher::obey_about_home(Gateway& gateway, const wire::GatewayRequest& request) {
  const bool is_known = request.server_index < factory_.config().servers.size();
  if (!is_known || request.home_action > HomeAction::clear) return false;
  const auto refusal = begin_home_task(gateway, request);
  if (refusal.answer != HomeAnswer::done) tell_home(gateway.user, request.request, refusal);
  return true;
}

// `done`: it has begun.
wire::HomeFacts Launcher::begin_home_task(const Gateway& gateway,
                                          const wire::GatewayRequest& request) {
  const std::uint32_t server = request.server_index;
  const std::uint32_t user = gateway.user;
  if (!gateway.permitted.contains(server)) return {.answer = HomeAnswer::not_permitted};
  if (request.home_action == HomeAction::clear && uses_home(gateway, server)) {
    return {.answer = HomeAnswer::in_use};
  }
  auto home = factory_.kept_home(server, user);
  if (!home && home.error().number == ENOENT) return {.answer = HomeAnswer::none};
  if (!home) return {.answer = HomeAnswer::failed, .error = home.error().number};
  const HomeTasks::Task task{factory_.config().servers[server].name, user, home->owner,
                             request.home_action};
  const auto begun = homes_.begin(task, std::move(home->directory),
                                  [this, user, number = request.request](const auto& facts) {
                                    tell_home(user, number, facts);
                                  });
  if (!begun) return {.answer = HomeAnswer::failed, .error = begun.error().number};
  return {};
}

void Launcher::tell_home(std::uint32_t user, std::uint32_t request, const wire::HomeFacts& facts) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  tell(*found->second, {.kind = wire::CellEventKind::home, .request = request, .home = facts});
}

// Changes by the supervisor, for cells that start from now on.

// Of a gateway that is not there the end is on the way already.
void Launcher::permit(std::uint32_t user, const ServerSet& servers) {
  const auto found = gateways_.find(user);
  if (found != gateways_.end()) found->second->permitted.add(servers);
}

void Launcher::permit_only(std::uint32_t user, const ServerSet& servers) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  found->second->withdrawn.add(found->second->permitted);
  found->second->permitted = servers;
}

// Running cells, gateways and helpers go on; those that start later get the new configuration.
void Launcher::reload(std::vector<Fd> fds) {
  const auto reloaded =
      factory_.reload(fds[0].get(), std::move(fds[1]), std::move(fds[2]), std::move(fds[3]));
  if (!reloaded) {
    const NotReloaded& why = reloaded.error();
    return tell_supervisor({.kind = LauncherReportKind::not_reloaded,
                            .refusal = why.refusal,
                            .server = why.server,
                            .facts = why.failure.facts()});
  }
  config_bytes_ = std::move(fds[0]);
  tell_supervisor({.kind = LauncherReportKind::reloaded});
}

// Events of running cells, for their gateways.

namespace {

std::chrono::milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

wire::CellPressure words_of(const GroupPressure& pressure) {
  return {.memory = pressure.memory.value_or(wire::pressure_unknown),
          .cpu = pressure.cpu.value_or(wire::pressure_unknown),
          .io = pressure.io.value_or(wire::pressure_unknown),
          .padding = 0};
}

wire::CellUsage usage_of(std::uint64_t cell, const GroupUsageNow& usage) {
  return {.cell = cell,
          .memory = usage.memory,
          .memory_peak = usage.memory_peak,
          .cpu_microseconds = usage.cpu_microseconds,
          .tasks = usage.tasks,
          .pressure = words_of(usage.pressure)};
}

}  // namespace

// What a server is refused must neither fill the channel that its end is told through, nor cost its
// user a gateway: while a quarter of the queue waits there, counts wait here.
bool Launcher::tell_denial(std::uint32_t user, std::uint64_t cell, const wire::Denial& denial) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end() || !found->second->servers.contains(cell)) return true;
  constexpr int longest_queue = 48 << 10;
  const int channel = found->second->channel.get();
  int queued = 0;
  if (ioctl(channel, SIOCOUTQ, &queued) < 0 || queued > longest_queue) return false;
  const wire::CellEvent event{.kind = CellEventKind::denied, .cell = cell, .denial = denial};
  return send_record(channel, event, {}, MSG_DONTWAIT).has_value();
}

// Reading is the kernel's work: one gateway cannot have this process do nothing else, nor can all.
void Launcher::tell_usage(Gateway& gateway, std::uint64_t after) {
  wire::CellEvent event{.kind = CellEventKind::usage};
  wire::UsagePage& page = event.usage;
  if (!RateBudget::take_both(gateway.usages, all_usages_, now())) return tell(gateway, event);
  auto cell = gateway.servers.upper_bound(after);
  for (; cell != gateway.servers.end() && page.count < wire::usages_in_record; ++cell) {
    page.cells[page.count++] = usage_of(cell->first, cells_.usage_now(cell->first));
  }
  page.more = cell != gateway.servers.end() ? 1 : 0;
  tell(gateway, event);
}

}  // namespace cellblock::launcher
