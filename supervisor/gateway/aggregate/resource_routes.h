#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "supervisor/gateway/aggregate/members.h"

/// Whose resource a URI is, and how it is shown.
///
/// A URI stays as its server wrote it wherever it leads back to that server. Otherwise it is shown
/// in its qualified form, `cellblock://SERVER/ORIGINAL` (of `ui://…`, whose scheme means something
/// to hosts: `ui://cellblock/SERVER/…`), which always leads there. An unqualified one is the
/// resource of the first server
///   1. that lists it, or refers to it from a tool (`_meta.ui.resourceUri`),
///   2. with a template that it matches and that says the scheme: of several the one with the
///   longest
///      beginning before its first expression,
///   3. that has mentioned it in a result,
///   4. with resources of its scheme, if no other server has any.
namespace cellblock::gateway {

// Which URIs match a resource template (RFC 6570). Wider than the RFC where it must guess (a list
// of variables is one gap): it only decides whose resource a URI is.

// What is over these bounds matches nothing: servers choose templates and URIs, and every URI may
// have to be held against every template.
inline constexpr std::size_t max_template = 2048;     ///< in bytes
inline constexpr std::size_t max_expressions = 8;     ///< of one template
inline constexpr std::size_t max_matched_uri = 2048;  ///< in bytes

/// What holding them against each other may cost at the most, in steps of a byte.
constexpr std::size_t match_effort(std::string_view uri_template, std::string_view uri) {
  return uri_template.size() * (uri.size() + 1);
}

/// What stands before its first expression.
constexpr std::string_view literal_beginning(std::string_view uri_template) {
  return uri_template.substr(0, uri_template.find('{'));
}

bool template_matches(std::string_view uri_template, std::string_view uri);

/// Whether some URI might be of both: what stands before the first expression does not tell them
/// apart.
bool templates_may_overlap(std::string_view one, std::string_view other);

class ResourceRoutes {
 public:
  static constexpr std::size_t max_mentioned = 4096;
  static constexpr std::size_t max_templates = 128;  ///< of one server; further ones match nothing
  /// On templates, in steps of a byte (match_effort), for all that one message names: a few tenths
  /// of a second at the worst. Servers with templates share it evenly. Where a server's share is
  /// used up its templates match nothing more, and what might be its is shown in the qualified
  /// form.
  static constexpr std::size_t max_effort = 32U << 20;

  /// What one message has cost.
  struct Effort {
    std::unordered_map<std::uint32_t, std::size_t> spent;  ///< by server
    bool was_enough = true;                                ///< for what was looked up last
  };

  explicit ResourceRoutes(const Members& members) : members_(members) {}

  /// Forgets what was listed, not what was mentioned.
  void clear_listed();
  /// In the order of the servers: earlier ones come first.
  void list_resource(std::uint32_t server, const std::string& uri);
  void list_template(std::uint32_t server, const std::string& uri_template);
  void list_reference(std::uint32_t server, const std::string& uri);

  struct Route {
    std::uint32_t server = 0;
    std::string uri;  ///< as that server knows it

    bool operator==(const Route&) const = default;
  };
  /// Rules 1 to 3 and qualified forms; with `guess`, rule 4 too.
  enum class Certainty : std::uint8_t { certain, guess };
  std::optional<Route> find(std::string_view shown, Certainty certainty, Effort& effort) const;
  std::optional<Route> find(std::string_view shown, Certainty certainty) const {
    Effort effort;
    return find(shown, certainty, effort);
  }

  std::string shown(std::uint32_t server, const std::string& uri, Effort& effort) const;
  std::string shown(std::uint32_t server, const std::string& uri) const {
    Effort effort;
    return shown(server, uri, effort);
  }
  std::string shown_template(std::uint32_t server, const std::string& uri_template) const;
  /// As shown(), for a URI in a result. The URI is remembered if no other server has it.
  std::string mention(std::uint32_t server, const std::string& uri, Effort& effort);
  std::string mention(std::uint32_t server, const std::string& uri) {
    Effort effort;
    return mention(server, uri, effort);
  }

 private:
  std::optional<Route> unqualified(std::string_view qualified) const;
  struct Template {
    std::uint32_t server = 0;
    std::string text;
    std::size_t literal = 0;  ///< size of its beginning

    bool comes_before(const Template& other) const {
      return literal != other.literal ? literal > other.literal : server < other.server;
    }
  };
  static Template template_of(std::uint32_t server, const std::string& uri_template);
  bool spend(const Template& entry, std::string_view uri, Effort& effort) const;
  /// nullptr: no server has it.
  const std::uint32_t* owner(const std::string& uri, Effort& effort) const;
  const std::uint32_t* owner_by_template(const std::string& uri, Effort& effort) const;
  std::string qualified(std::uint32_t server, const std::string& uri) const;
  void note_scheme(std::uint32_t server, std::string_view uri);

  const Members& members_;
  std::unordered_map<std::string, std::uint32_t> listed_;
  std::vector<Template> templates_;  ///< those that come before others first
  std::size_t template_servers_ = 0;
  std::unordered_map<std::string, std::uint32_t> mentioned_;
  /// nullopt: of several servers.
  std::unordered_map<std::string, std::optional<std::uint32_t>> schemes_;
};

}  // namespace cellblock::gateway
