#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/pins/definition.h"
#include "policy/pins/pin_set.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/schema_book.h"

/// The pins of one user's gateway, and the schemas of the tools in them (schema_book.h), by the
/// server's index in the configuration: what Session, ServerRoute and the reports ask, and where
/// what they saw is put. Pure.
namespace cellblock::gateway {

class PinEffects {
 public:
  /// The pins differ from the file on disk now.
  virtual void pins_changed(std::uint32_t server) = 0;
  virtual void pin_event(std::uint32_t server, const PinEvent& event) = 0;
  virtual std::int64_t unix_ms() const = 0;

 protected:
  ~PinEffects() = default;
};

class PinBook {
 public:
  /// `config` outlives it.
  PinBook(const Config& config, PinEffects& effects);
  PinBook(const PinBook&) = delete;
  PinBook& operator=(const PinBook&) = delete;

  const PinSet& of(std::uint32_t server) const { return sets_[server]; }
  /// To be put back what was on disk.
  PinSet& put_back(std::uint32_t server) { return sets_[server]; }

  /// The server is new (the next index), or its declaration pins otherwise now.
  void begin_anew(std::uint32_t server);

  /// What the configuration lets pass of it, as it is now.
  void declare(std::uint32_t server);

  /// What a server showed: cleaned items, an array.
  void see(std::uint32_t server, PinView view, ListKind kind, const nlohmann::ordered_json& items,
           PageEnd end);
  /// What a survey found.
  void see(std::uint32_t server, const Catalogue& catalogue);
  /// Pins a catalogue from before there were pins: only the lists that have not been seen yet. The
  /// catalogue may be older than what was seen of the others.
  void see_first(std::uint32_t server, const Catalogue& catalogue);

  /// What arguments are held to.
  SchemaBook& schemas() { return schemas_; }

  /// Changes with every change of the server's pins.
  std::uint64_t revision(std::uint32_t server) const { return revisions_[server]; }

  /// The deciding user and the server; `by`: a uid, as the kernel reports it.
  struct Decider {
    std::uint32_t server = 0;
    std::uint32_t by = 0;
  };
  PinSet::Done accept(const Decider& decider, ListKind kind, std::string_view name,
                      const std::optional<Digest>& digest);
  PinSet::Done forget(const Decider& decider, ListKind kind, std::string_view name);
  void forget_all(const Decider& decider);

 private:
  class Others;

  void changed(std::uint32_t server, const PinEvents& events);

  const Config& config_;
  PinEffects& effects_;
  std::vector<PinSet> sets_;
  std::vector<std::uint64_t> revisions_;
  SchemaBook schemas_;
};

}  // namespace cellblock::gateway
