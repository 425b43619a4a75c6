#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "supervisor/gateway/catalogue/discovery.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/cell_user.h"
#include "supervisor/gateway/cell/gateway_services.h"

/// One survey with its cells: carries out what the machine (discovery.h) decides. Its cells have no
/// workspace and belong to no session.
namespace cellblock::gateway {

class DiscoveryRunner final : private DiscoveryEffects, private CellUser, private CellKeeper {
 public:
  struct Receiver {
    std::function<void(Discovered)> found;  ///< one of these two, once
    std::function<void(const Failure&)> failed;
    std::function<void()> over;  ///< after it: no cell is left, and it may be destroyed
  };

  DiscoveryRunner(GatewayServices& services, std::uint32_t server, const SurveyStart& start,
                  Receiver receiver);

  void begin();
  std::optional<CellRow> row(Time now) const;

 private:
  // DiscoveryEffects
  void start_cell() override;
  void to_cell(std::string_view line) override;
  void stop_cell() override;
  void set_deadline(std::optional<Milliseconds> from_now) override;
  CellWords words() const override;
  void found(Discovered surveyed) override;
  void failed(const Failure& failure) override;

  // CellUser
  void cell_running(Time now) override { survey_.cell_running(now); }
  void from_cell(std::string_view line, const Message& message, Time now) override {
    survey_.from_cell(line, message, now);
  }
  bool answer_lost(std::string_view ours, const Failure& failure, Time now) override;
  void cell_gone(const Failure& failure, Time now) override { survey_.cell_gone(failure, now); }
  bool is_busy(Time) const override { return true; }
  void let_go(Time) override {}
  std::uint64_t session() const override { return 0; }
  bool owns(std::string_view ours) const override { return survey_.owns(ours); }

  // CellKeeper
  void cell_turn_done() override { settle(); }

  Time now() const { return services_.loop().now(); }
  void settle();
  void remove_ended();

  GatewayServices& services_;
  const std::uint32_t server_;
  Receiver receiver_;
  Discovery survey_;
  std::unique_ptr<CellRunner> cell_;
  Timer deadline_;
  bool burying_ = false;
  bool done_ = false;
};

}  // namespace cellblock::gateway
