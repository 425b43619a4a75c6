#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/mcp/methods.h"
#include "policy/pins/definition.h"

/// The accepted definitions of one server, and those it shows that were not accepted. These are
/// withheld: they are in no list, and cannot be called. Resources are not pinned: they are data
/// that come and go; templates say what they may be.
namespace cellblock {

enum class Withholding : std::uint8_t {
  no,
  fresh,              ///< it was not there when the others were pinned
  changed,            ///< it is not what was pinned under this name
  hidden_characters,  ///< its texts have characters that a reader does not see
  instruction,        ///< its texts give orders behind the user's back
  look_alike,         ///< its name can be taken for that of another one
  shadows,            ///< it speaks of another server's tools, or is named like one
};
inline constexpr std::uint8_t last_withheld = static_cast<std::uint8_t>(Withholding::shadows);
std::string_view name_of(Withholding reason);  ///< "look_alike"

struct Pin {
  std::string accepted;  ///< canonical; empty: none was accepted
  Digest digest{};       ///< of `accepted`
  Digest body{};         ///< of `accepted` without its name
  Withholding withheld = Withholding::no;
  std::string shown;       ///< what is withheld, canonical; empty: nothing, or too much to keep
  Digest shown_body{};     ///< of `shown` without its name
  std::string about;       ///< what makes it suspect: a name, a quotation; printable
  std::int64_t at_ms = 0;  ///< Unix time of the last change
  /// The uid that said yes to `accepted`; none: it was let pass at first sight.
  std::optional<std::uint32_t> accepted_by;

  bool is_accepted() const { return !accepted.empty(); }
  bool operator==(const Pin&) const = default;
};

/// What a server shows depends on the session: on what its host offers, and on whether it has a
/// workspace. Each such view has a first sight of its own; a definition known to one view is known
/// to all.
using PinView = std::uint8_t;
inline constexpr PinView pin_views = 16;  ///< bit 0 roots, 1 sampling, 2 elicitation, 3 workspace

enum class PageEnd : std::uint8_t { more, last };

/// What happened, for the audit log and for `status`.
struct PinEvent {
  enum class What : std::uint8_t { pinned, withheld, back, accepted, forgotten, declared };
  What what{};
  mcp::ListKind kind{};
  std::string name;  ///< empty: of several at once
  Withholding reason = Withholding::no;
  std::size_t count = 1;
  std::optional<std::uint32_t> by;  ///< the uid that decided it
};
using PinEvents = std::vector<PinEvent>;
std::string_view name_of(PinEvent::What what);  ///< "withheld"

/// Other servers of the same configuration, for what only shows among them.
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  /// The server whose accepted tool has a name of this fold (suspicion.h), but not this name;
  /// empty: none.
  virtual std::string look_alike(mcp::ListKind kind, std::string_view name,
                                 std::string_view fold) const = 0;
  virtual const std::vector<std::string>& servers() const = 0;
};

class PinSet {
 public:
  static constexpr std::size_t max_pins = 8'192;
  static constexpr std::size_t max_bytes = 16U << 20;          ///< of definitions, both kinds
  static constexpr std::size_t max_withheld_bytes = 4U << 20;  ///< of those that wait
  static constexpr std::int64_t first_sight_ms = 600'000;

  explicit PinSet(PinMode mode) : mode_(mode) {}

  /// Definitions that the configuration has accepted for everybody: let pass whenever they are
  /// seen, those that wait at once. What was let pass stays so when they are others later.
  PinEvents declare(std::vector<Digest> accepted, std::int64_t now_ms);

  /// `items`: cleaned; an array. What it brings about is told in the events.
  PinEvents see(PinView view, mcp::ListKind kind, const nlohmann::ordered_json& items, PageEnd end,
                const Neighbours& neighbours, std::int64_t now_ms);

  /// Whether an item with this name, as it was last seen, is accepted. Resources always are.
  bool admits(mcp::ListKind kind, std::string_view name) const;
  /// Whether an item of an older list is the accepted one.
  bool admits_item(mcp::ListKind kind, const nlohmann::ordered_json& item) const;

  enum class Call : std::uint8_t {
    may_go,
    withheld,
    unknown,   ///< all that there is is known, and this is not of it
    unlisted,  ///< nothing was listed in this view yet
  };
  Call judge(PinView view, mcp::ListKind kind, std::string_view name) const;

  /// Null: there is none.
  const Pin* find(mcp::ListKind kind, std::string_view name) const;

  enum class Done : std::uint8_t { yes, nothing_there, is_another, no_room };
  /// What is shown now; with `digest`, only if it is that of what is shown.
  struct Decision {
    std::uint32_t by = 0;  ///< a uid, as the kernel says
    std::int64_t now_ms = 0;
  };
  Done accept(mcp::ListKind kind, std::string_view name, const std::optional<Digest>& digest,
              const Decision& decision);
  Done forget(mcp::ListKind kind, std::string_view name);
  /// Everything: what comes next is a first sight.
  void forget_all();

  /// What was on disk cannot be read: nothing is admitted until forget_all().
  void is_damaged() { damaged_ = true; }
  bool damaged() const { return damaged_; }

  PinMode mode() const { return mode_; }
  std::size_t size() const;
  std::size_t withheld() const;
  /// What did not fit since the gateway began.
  std::uint64_t overflowed() const { return overflowed_; }
  bool has_fold_of_another(mcp::ListKind kind, std::string_view name, std::string_view fold) const;

  struct Entry {
    mcp::ListKind kind{};
    const std::string* name = nullptr;
    const Pin* pin = nullptr;
  };
  /// Sorted by kind, then by name.
  std::vector<Entry> entries() const;

  /// For the file alone.
  struct Sight {
    std::int64_t began_ms = 0;  ///< 0: nothing seen yet
    bool is_whole = false;
    bool operator==(const Sight&) const = default;
  };
  using Sights = std::array<std::array<Sight, mcp::list_kind_count>, pin_views>;
  const Sights& sights() const { return sights_; }
  void put_back(mcp::ListKind kind, std::string name, Pin pin);
  void put_back(const Sights& sights) { sights_ = sights; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  struct Seen {
    mcp::ListKind kind{};
    const std::string& name;
    const nlohmann::ordered_json& item;
    bool is_first_sight = false;
    const Neighbours& neighbours;
    std::int64_t now_ms = 0;
  };

  bool is_first_sight(const Sight& sight, std::int64_t now_ms) const;
  void remember(mcp::ListKind kind, const nlohmann::ordered_json& items, std::int64_t now_ms);
  void see_one(const Seen& seen, PinEvents& events, std::size_t& pinned);
  std::pair<Withholding, std::string> suspicion(const Seen& seen,
                                                const Definition& definition) const;
  std::string twin_of(mcp::ListKind kind, const Definition& definition) const;
  Pin* place(mcp::ListKind kind, const std::string& name);
  void withhold(Pin& pin, const Seen& seen, Definition definition,
                std::pair<Withholding, std::string> why, PinEvents& events);
  bool keep(mcp::ListKind kind, const std::string& name, Pin& pin, Definition definition,
            std::int64_t now_ms);
  void drop_shown(Pin& pin);
  ByName<Pin>& pins(mcp::ListKind kind) { return pins_.at(static_cast<std::size_t>(kind)); }
  const ByName<Pin>& pins(mcp::ListKind kind) const {
    return pins_.at(static_cast<std::size_t>(kind));
  }

  bool is_declared(const Digest& digest) const;

  PinMode mode_;
  std::vector<Digest> declared_;  ///< sorted
  bool damaged_ = false;
  std::array<ByName<Pin>, mcp::list_kind_count> pins_;
  /// Of accepted names: fold -> name.
  std::array<ByName<std::string>, mcp::list_kind_count> folds_;
  Sights sights_{};
  std::size_t bytes_ = 0;
  std::size_t withheld_bytes_ = 0;
  std::uint64_t overflowed_ = 0;
};

}  // namespace cellblock
