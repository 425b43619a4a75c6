#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/checks/pin_book.h"
#include "supervisor/gateway/checks/redaction_gate.h"

/// The catalogues without what is withheld, and without what redaction takes out: what everybody is
/// given who shows them to a host. Pure.
namespace cellblock::gateway {

class PinnedCatalogues final : public Catalogues {
 public:
  /// All of which outlive it. `servers`: how many there are.
  PinnedCatalogues(Catalogues& all, PinBook& pins, Redactions& redactions, std::size_t servers)
      : all_(all), pins_(pins), redactions_(redactions), kept_(servers) {}

  /// The server's redaction has changed: its redacted catalogue is made anew.
  void reconfigure(std::uint32_t server) { kept_[server].reset(); }

  const Catalogue* find(std::uint32_t server) const override {
    return admitted(server, all_.find(server));
  }
  Eras eras(std::uint32_t server) const override { return all_.eras(server); }
  std::optional<Broken> broken(std::uint32_t server) const override { return all_.broken(server); }
  Waiter want(std::uint32_t server, Told told) override;
  void forget(Waiter waiter) override { all_.forget(waiter); }
  void learn_list(std::uint32_t server, ListKind kind, std::string_view items) override {
    all_.learn_list(server, kind, items);
  }
  void learn_answer(std::uint32_t server, Era era, std::string_view result) override {
    all_.learn_answer(server, era, result);
  }
  void learn_speaks(std::uint32_t server, Era era, Speaks speaks) override {
    all_.learn_speaks(server, era, speaks);
  }
  void list_changed(std::uint32_t server, ListKind kind) override {
    all_.list_changed(server, kind);
  }
  void forget_server(std::uint32_t server) override { all_.forget_server(server); }

 private:
  /// What was found to be admitted of which catalogue.
  struct Kept {
    std::uint64_t revision = 0;  ///< of the pins
    Catalogue of;
    Catalogue admitted;
  };

  const Catalogue* admitted(std::uint32_t server, const Catalogue* catalogue) const;
  void redact(std::uint32_t server, Catalogue& catalogue) const;
  std::string redacted_items(std::uint32_t server, const std::string& items) const;

  Catalogues& all_;
  PinBook& pins_;
  Redactions& redactions_;
  mutable std::vector<std::optional<Kept>> kept_;  ///< by server index
};

}  // namespace cellblock::gateway
