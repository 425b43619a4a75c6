#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "policy/config/config.h"
#include "policy/mcp/methods.h"
#include "policy/pins/pin_set.h"
#include "supervisor/gateway/cell/gateway_services.h"
#include "supervisor/gateway/checks/pin_book.h"
#include "supervisor/os/sys.h"

/// The pins of one user's gateway with their clock and files: carries out what the machine
/// (checks/pin_book.h) decides.
namespace cellblock::gateway {

/// The files of one user's pins: SERVER.pins, beside his catalogues. No cache: a file that cannot
/// be read counts as damaged, and then nothing is admitted. Blocking, and synced.
class PinStore {
 public:
  /// Opens the directory that the launcher made (root_plan.h, home_directory).
  static SysResult<PinStore> open(const std::string& path);
  explicit PinStore(Fd directory) : directory_(std::move(directory)) {}

  /// Into an empty set; a file that is not there leaves it empty.
  void load(const Server& server, PinSet& pins) const;
  SysResult<void> save(const Server& server, const PinSet& pins) const;

 private:
  Fd directory_;
};

class PinKeeper final : private PinEffects {
 public:
  /// `store`: none: nothing is kept on disk.
  PinKeeper(GatewayServices& services, std::optional<PinStore> store);

  PinBook& book() { return book_; }
  const PinBook& book() const { return book_; }
  bool is_kept() const { return store_.has_value(); }

  /// Loads the pins of a server from disk: it is new, or its declaration pins otherwise now.
  void begin_anew(std::uint32_t server);

  /// Once the gateway can record: what the configuration lets pass of what waits on disk.
  void take_declared();

  /// The lists of which definitions were accepted or forgotten since the last call.
  using Decided = std::array<bool, mcp::list_kind_count>;
  Decided take_decided() { return std::exchange(decided_, {}); }

  /// What is not on disk yet is put there.
  void finish() { save_all(); }

  /// A server that changes its lists all the time is written no more often.
  static constexpr Milliseconds save_gap{1'000};

 private:
  // PinEffects
  void pins_changed(std::uint32_t server) override;
  void pin_event(std::uint32_t server, const PinEvent& event) override;
  std::int64_t unix_ms() const override;

  void put_back(std::uint32_t server);
  void save_all();

  GatewayServices& services_;
  std::optional<PinStore> store_;
  PinBook book_;
  Decided decided_{};
  std::set<std::uint32_t> unsaved_;
  Timer saving_;
};

}  // namespace cellblock::gateway
