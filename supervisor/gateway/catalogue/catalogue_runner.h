#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/catalogue/catalogue_cache.h"
#include "supervisor/gateway/catalogue/catalogue_store.h"
#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/catalogue/discovery.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/cell_user.h"
#include "supervisor/gateway/cell/gateway_services.h"

/// The catalogues of one user's gateway with their clocks, files and cells: carries out what the
/// machine (catalogue_cache.h) decides.
namespace cellblock::gateway {

/// One survey with its cells: carries out what the machine (discovery.h) decides. Its cells have no
/// workspace and belong to no session.
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
  bool answer_lost(std::string_view own_id, const Failure& failure, Time now) override;
  void cell_gone(const Failure& failure, Time now) override { survey_.cell_gone(failure, now); }
  bool is_busy(Time) const override { return true; }
  void let_go(Time) override {}
  std::uint64_t session() const override { return 0; }
  bool owns(std::string_view own_id) const override { return survey_.owns(own_id); }

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

class CatalogueRunner final : public Catalogues, private CacheEffects {
 public:
  /// Is told what a survey found, before any waiter receives it.
  using Found = std::function<void(std::uint32_t server, const Catalogue& catalogue)>;

  /// `store`: nullptr: nothing is kept on disk.
  CatalogueRunner(GatewayServices& services, std::unique_ptr<CatalogueStore> store, Found found);

  static constexpr std::size_t max_surveys = 8;  ///< at one time; others wait for their turn

  const Catalogue* find(std::uint32_t server) const override;
  Eras eras(std::uint32_t server) const override { return cache_.eras(server); }
  std::optional<Broken> broken(std::uint32_t server) const override {
    return cache_.broken(server, now());
  }
  Waiter want(std::uint32_t server, Told told) override;
  void forget(Waiter waiter) override;
  void learn_list(std::uint32_t server, ListKind kind, std::string_view items) override;
  void learn_answer(std::uint32_t server, Era era, std::string_view result) override;
  void learn_speaks(std::uint32_t server, Era era, Speaks speaks) override;
  void list_changed(std::uint32_t server, ListKind kind) override;
  void forget_server(std::uint32_t server) override;

  /// Loads the catalogue of a new server from disk.
  void put_back(std::uint32_t server);

  /// Nothing more is learnt: what is not on disk yet is put there.
  void finish();

  CatalogueView view(std::uint32_t server) const { return cache_.view(server, now()); }
  /// The rows of the surveys' cells.
  std::vector<CellRow> rows(std::uint32_t server) const;

 private:
  // CacheEffects
  void start_survey(std::uint32_t server, const SurveyStart& start) override;
  void save(std::uint32_t server, const KeptCatalogue& kept) override;
  void remove(std::uint32_t server) override;

  struct Running {
    std::uint32_t server = 0;
    std::unique_ptr<DiscoveryRunner> survey;
  };

  CatalogueCache::Now now() const;
  void read_all_kept();
  void save_later();
  void begin_next();
  bool has_survey(std::uint32_t server) const;
  void survey_ended(std::uint32_t server, const Failure* failure);
  void tell(Waiter waiter, std::uint32_t server, const Told& told);
  const Server& server_at(std::uint32_t server) const;

  GatewayServices& services_;
  CatalogueCache cache_;
  std::unique_ptr<CatalogueStore> store_;
  Found found_;
  Timer saving_;
  std::list<Running> surveys_;
  std::deque<std::pair<std::uint32_t, SurveyStart>> queued_;
  std::vector<Waiter> to_be_told_;  ///< later in this turn
  Waiter last_waiter_ = 0;
};

}  // namespace cellblock::gateway
