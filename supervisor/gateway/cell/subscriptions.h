#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Which sessions on a shared cell want to hear of which resource. The server is asked once for
/// each URI, however many want it. Pure.
namespace cellblock::gateway {

class Subscriptions {
 public:
  using Session = std::uint64_t;
  static constexpr std::size_t most = 4'096;       ///< pairs of session and URI
  static constexpr std::size_t most_of_one = 512;  ///< session, so that it leaves room for others
  static constexpr std::size_t longest_uri = 4'096;

  enum class Added : std::uint8_t {
    first,    ///< the server is to be asked
    another,  ///< it has been asked
    refused,  ///< too many, or too long
  };
  Added add(Session session, std::string_view uri);

  enum class Removed : std::uint8_t {
    last,  ///< the server is to be told
    some,  ///< others want it still, or nobody did
  };
  Removed remove(Session session, std::string_view uri);
  /// The session has left: what nobody wants any more.
  std::vector<std::string> forget(Session session);

  /// Who hears that `uri` was updated, which may be a part of what they subscribed to.
  std::vector<Session> wanting(std::string_view uri) const;

 private:
  struct Entry {
    Session session = 0;
    std::string uri;
    bool operator==(const Entry&) const = default;
  };
  bool is_wanted(std::string_view uri) const;

  std::vector<Entry> entries_;
};

}  // namespace cellblock::gateway
