#include "supervisor/gateway/catalogue/pin_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <string_view>

#include "policy/base/printable.h"
#include "policy/base/server_set.h"
#include "policy/pins/pin_file.h"
#include "supervisor/gateway/catalogue/kept_files.h"
#include "supervisor/gateway/checks/user_policy.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {
namespace {

std::string file_name(const Server& server) { return server.name + ".pins"; }

}  // namespace

SysResult<PinStore> PinStore::open(const std::string& path) {
  return PinStore(
      CELLBLOCK_TRY(open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
}

void PinStore::load(const Server& server, PinSet& pins) const {
  const auto file = open_kept(directory_.get(), file_name(server));
  if (!file && file.error().number == ENOENT) return;
  const auto bytes =
      file ? read_all(file->get(), max_pin_file, Sealing::any) : std::unexpected(file.error());
  if (!bytes) return pins.is_damaged();
  read_pin_file({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, pins);
}

SysResult<void> PinStore::save(const Server& server, const PinSet& pins) const {
  return replace_kept(directory_.get(), file_name(server), pin_file(pins), Durability::synced);
}

namespace {

constexpr std::size_t longest_name = 200;

wire::AuditOutcome outcome_of(PinEvent::What what) {
  if (what == PinEvent::What::withheld) return wire::AuditOutcome::denied;
  return what == PinEvent::What::back ? wire::AuditOutcome::none : wire::AuditOutcome::ok;
}

std::string reason_of(const PinEvent& event) {
  std::string reason(name_of(event.what));
  if (event.reason != Withholding::no) reason += fmt::format(": {}", name_of(event.reason));
  if (event.by) reason += fmt::format(" by uid {}", *event.by);
  return reason;
}

}  // namespace

PinKeeper::PinKeeper(GatewayServices& services, std::optional<PinStore> store)
    : services_(services),
      store_(std::move(store)),
      book_(services.config(), *this),
      saving_(services.loop(), [this] { save_all(); }) {
  for (std::uint32_t i = 0; i < services_.config().servers.size(); ++i) put_back(i);
}

void PinKeeper::put_back(std::uint32_t server) {
  const Server& declared = services_.config().servers[server];
  if (!store_ || declared.pin == PinMode::off) return;
  store_->load(declared, book_.put_back(server));
  if (!book_.of(server).damaged()) return;
  spdlog::error("{} its pins cannot be read: nothing of it is let pass", server_tag(declared.name));
}

void PinKeeper::begin_anew(std::uint32_t server) {
  save_all();
  book_.begin_anew(server);
  put_back(server);
}

void PinKeeper::take_declared() {
  for (std::uint32_t i = 0; i < services_.config().servers.size(); ++i) book_.declare(i);
}

void PinKeeper::pins_changed(std::uint32_t server) {
  if (!store_ || services_.config().servers[server].pin == PinMode::off) return;
  unsaved_.insert(server);
  if (!saving_.is_set()) saving_.set(save_gap);
}

void PinKeeper::save_all() {
  for (const std::uint32_t server : std::exchange(unsaved_, {})) {
    const Server& declared = services_.config().servers[server];
    const auto saved = store_->save(declared, book_.of(server));
    if (!saved) {
      spdlog::error("{} its pins cannot be kept on disk: {}", server_tag(declared.name),
                    saved.error().text());
    }
  }
}

void PinKeeper::pin_event(std::uint32_t server, const PinEvent& event) {
  if (event.by && event.name.empty()) decided_.fill(true);
  const bool is_decided = event.by || event.what == PinEvent::What::declared;
  if (is_decided) decided_.at(static_cast<std::size_t>(event.kind)) = true;
  const bool is_another =
      event.what == PinEvent::What::withheld || event.what == PinEvent::What::declared;
  if (is_another) services_.policy().approvals.forget_beforehand(server);
  const Server& declared = services_.config().servers[server];
  const std::string name =
      event.name.empty()
          ? std::string(mcp::facts_of(event.kind).items)
          : printable(services_.policy().argument_texts.name(declared.name, event.name),
                      longest_name);
  services_.record(audit_record({.server = declared.name}, {.kind = wire::AuditKind::pin,
                                                            .outcome = outcome_of(event.what),
                                                            .tool = name,
                                                            .reason = reason_of(event),
                                                            .count = event.count}));
}

std::int64_t PinKeeper::unix_ms() const { return unix_milliseconds(); }

}  // namespace cellblock::gateway
