#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/pin_book.h"

/// The pins of one server for one upstream: what its host may be shown, and may call. Pure.
namespace cellblock::gateway {

enum class Directory : std::uint8_t { none, handed_in };

class PinGate {
 public:
  /// Admits all: where there are no pins.
  PinGate() = default;
  PinGate(PinBook& book, std::uint32_t server, const Server& declared, Directory directory);

  /// What its host offers the server, in `initialize` or with each request: `allowed` of it.
  void host_says(std::string_view line, const Message& message, const ClientFeatures& allowed);

  /// A page of a list, cleaned, on its way to the host.
  void see(ListKind kind, const nlohmann::ordered_json& items, PageEnd end);
  /// Whether the definition that was seen last is accepted.
  bool admits(ListKind kind, std::string_view name) const;

  /// A tool that has not been listed is withheld from now on, and not let pass as one of a first
  /// sight would be.
  void withhold_unlisted() { unlisted_ = Unlisted::withheld; }

  /// Judges a request that the rules allow. A name unknown to the pins is answered like an unknown
  /// name, a withheld one with `quarantined`.
  void judge(std::string_view line, const Message& message, CallAccess& access) const;

  /// What is accepted of what a request names; nullopt: nothing is, or it is not held to that.
  std::optional<Digest> definition_of(std::string_view line, const Message& message) const;

  /// A call that may be made: why its arguments are not what the tool's inputSchema says, as far
  /// as one is known that they can be held to.
  std::optional<Failure> refuse_arguments(std::string_view line, const Message& message) const;

  /// The defaults in the accepted inputSchema for arguments that the call leaves out, if its
  /// arguments decide; null: not known. Valid until the next call of this or of refuse_arguments.
  const Arguments* defaults_for(const Message& message, const Rights& rights) const;

  /// Whether the tools that there are have to be listed before this one can be judged.
  bool wants_list(const Message& message) const;

 private:
  enum class Unlisted : std::uint8_t { may_go, withheld };
  struct Named;

  bool is_withheld_unlisted(ListKind kind, PinSet::Call call) const {
    return call == PinSet::Call::unlisted && kind == ListKind::tools &&
           unlisted_ == Unlisted::withheld;
  }
  const PinSet& set() const { return book_->of(server_); }
  Named named_by(std::string_view line, const Message& message) const;

  PinBook* book_ = nullptr;
  const Server* declared_ = nullptr;
  std::uint32_t server_ = 0;
  PinView view_ = 0;
  Unlisted unlisted_ = Unlisted::may_go;
};

/// Why a definition is withheld, in words for a person: "has changed since it was pinned".
std::string withheld_text(const Pin& pin);

}  // namespace cellblock::gateway
