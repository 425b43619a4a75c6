#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/access/condition_match.h"
#include "policy/config/config.h"
#include "policy/pins/definition.h"
#include "policy/pins/pin_set.h"
#include "policy/schema/json_schema.h"
#include "supervisor/gateway/checks/catalogue.h"

/// The pins of one user's gateway and the schemas of the tools in them, by the server's index in
/// the configuration: what Session, ServerRoute and the reports ask, and where what they saw is
/// put. Pure.
namespace cellblock::gateway {

/// The inputSchemas of tools, made ready when the first call comes, and kept as long as the
/// definition is the same. Pure.
class SchemaBook {
 public:
  static constexpr std::size_t max_kept = 1'024;  ///< beyond it they are all made anew

  struct Entry {
    Digest of{};
    /// The error says why arguments are not held to it.
    std::expected<JsonSchema, std::string> schema;
    bool takes_every_object = false;
    Arguments defaults;
  };

  /// Valid until the next call of this.
  const Entry& of(std::uint32_t server, std::string_view tool, const Pin& pin);

 private:
  using Key = std::pair<std::uint32_t, std::string>;
  struct Less {
    using is_transparent = void;
    using View = std::pair<std::uint32_t, std::string_view>;
    static View view(const Key& key) { return {key.first, key.second}; }
    static View view(const View& key) { return key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };

  std::map<Key, Entry, Less> entries_;
};

/// Of a definition's canonical text.
std::expected<JsonSchema, std::string> input_schema_of(std::string_view definition);

class PinEffects {
 public:
  /// They are not what is on disk any more.
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

  /// Of a server that is new (the next index), or is pinned otherwise now.
  void begin_anew(std::uint32_t server);

  /// What a server showed: cleaned items, an array.
  void see(std::uint32_t server, PinView view, ListKind kind, const nlohmann::ordered_json& items,
           PageEnd end);
  /// What a survey found.
  void see(std::uint32_t server, const Catalogue& catalogue);
  /// What was known before there were pins: those of its lists that nobody has seen. What it says
  /// of others may be older than what was seen.
  void see_first(std::uint32_t server, const Catalogue& catalogue);

  /// What arguments are held to.
  SchemaBook& schemas() { return schemas_; }

  /// Another one when anything has changed.
  std::uint64_t revision(std::uint32_t server) const { return revisions_[server]; }

  /// Who decides, about which server; `by`: a uid, as the kernel says.
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
