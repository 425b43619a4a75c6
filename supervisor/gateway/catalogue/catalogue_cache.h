#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/os/clock.h"

/// The catalogues of one user's gateway and who waits for them: what Catalogues decides, without
/// clocks, files or cells. Pure.
namespace cellblock::gateway {

/// The origin of a catalogue.
enum class CatalogueSource : std::uint8_t { none, disk, survey, session };
std::string_view name_of(CatalogueSource source);  ///< "disk"

/// All that is kept of one server's.
struct KeptCatalogue {
  Catalogue catalogue;
  Eras eras;
  Findings findings;
  bool operator==(const KeptCatalogue&) const = default;
};

/// For `status`.
struct CatalogueView {
  const KeptCatalogue* kept = nullptr;  ///< null: there is none
  CatalogueSource source = CatalogueSource::none;
  bool expired = false;
  bool changed = false;  ///< the server said so, and it was not found again yet
  bool surveying = false;
  const Failure* failed = nullptr;  ///< the last survey, if it did
  Eras eras;
};

class CacheEffects {
 public:
  /// survey_ended() follows, never during this call.
  virtual void start_survey(std::uint32_t server, const SurveyStart& start) = 0;
  virtual void save(std::uint32_t server, const KeptCatalogue& kept) = 0;
  virtual void remove(std::uint32_t server) = 0;

 protected:
  ~CacheEffects() = default;
};

class CatalogueCache {
 public:
  struct Now {
    Time time;
    std::int64_t unix_ms = 0;
  };
  using Told = Catalogues::Told;
  using Waiter = Catalogues::Waiter;

  /// `config` outlives it.
  CatalogueCache(const Config& config, CacheEffects& effects);

  /// Restores a catalogue that was read from disk.
  void put_back(std::uint32_t server, KeptCatalogue kept);

  const Catalogue* find(std::uint32_t server, Now now) const;
  Eras eras(std::uint32_t server) const;
  std::optional<Broken> broken(std::uint32_t server, Now now) const;
  CatalogueView view(std::uint32_t server, Now now) const;

  /// True: `told` is to be called with answer() now. Else it is kept until survey_ended().
  bool want(std::uint32_t server, Waiter waiter, Told told, Now now);
  void forget(Waiter waiter);
  /// What a waiter is told: the catalogue, or null and the failure.
  struct Answer {
    const Catalogue* catalogue = nullptr;
    Failure failure;
  };
  Answer answer(std::uint32_t server) const;

  /// Returns the callbacks that must be called with answer(). `failure` null: the survey succeeded,
  /// and found() stored the catalogue.
  std::vector<std::pair<Waiter, Told>> survey_ended(std::uint32_t server, const Failure* failure,
                                                    Now now);
  void found(std::uint32_t server, KeptCatalogue found, Now now);

  /// Known at once, saved at most once in save_gap for each server: sessions may learn as often as
  /// a server likes to change its mind.
  void learn_list(std::uint32_t server, ListKind kind, std::string_view items, Now now);
  void learn_answer(std::uint32_t server, Era era, std::string_view result, Now now);
  void learn_speaks(std::uint32_t server, Era era, Speaks speaks, Now now);
  void list_changed(std::uint32_t server, ListKind kind);
  void forget_server(std::uint32_t server);

  static constexpr Milliseconds save_gap{60'000};
  /// When save_due() is to be called; nullopt: all is saved.
  std::optional<Time> next_save() const;
  void save_due(Now now);
  void save_all(Now now);  ///< at the end

 private:
  struct Entry {
    std::optional<KeptCatalogue> kept;
    CatalogueSource source = CatalogueSource::none;
    Eras eras;
    std::bitset<list_kind_count> changed;
    bool surveying = false;
    bool discard = false;          ///< what the running survey finds is not to be kept
    std::optional<Time> surveyed;  ///< when the last one ended
    std::optional<Time> saved;     ///< when it was last
    bool unsaved = false;
    std::optional<Failure> failed;
    std::size_t failures = 0;  ///< in a row
    std::vector<std::pair<Waiter, Told>> waiting;
  };

  bool is_fresh(const Entry& entry, Now now) const;
  bool is_recent(const Entry& entry, Milliseconds span, Now now) const;
  bool is_to_be_found_again(std::uint32_t server, Now now) const;
  void start(std::uint32_t server);
  void drop(std::uint32_t server);
  bool fits(const Catalogue& catalogue, std::size_t without, std::size_t with) const;
  void changed(std::uint32_t server, CatalogueSource source, Now now);
  void save(std::uint32_t server, Now now);

  const Config& config_;
  CacheEffects& effects_;
  std::vector<Entry> entries_;  ///< by server index
};

}  // namespace cellblock::gateway
