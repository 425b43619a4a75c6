#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Requests that several sessions make of one cell and that it hears once: who waits for which
/// answer. Pure; bounded by the calls that its users may have in flight.
namespace cellblock::gateway {

class RequestCoalescer {
 public:
  struct Waiting {
    std::uint64_t member = 0;
    std::string ours;  ///< its id of ours, raw JSON
  };
  /// `waiting` begins with whose request it is that the cell heard, unless that one has left.
  struct Done {
    std::string what;
    std::vector<Waiting> waiting;
  };

  bool is_asked(std::string_view what) const;
  /// It goes to the cell: the answer has this id.
  void ask(std::string_view what, Waiting first);
  /// is_asked() holds.
  void wait(std::string_view what, Waiting another);
  /// Whether the answer with this id is awaited here.
  bool has(std::string_view ours) const;
  std::optional<Done> take(std::string_view ours);
  /// Its answer no longer holds for those who ask later.
  void close(std::string_view what);
  void leave(std::uint64_t member);
  std::vector<Done> take_all();

 private:
  struct Entry {
    std::string ours;
    bool is_open = true;  ///< others may wait for it too
    Done done;
  };
  const Entry* open_one(std::string_view what) const;

  std::vector<Entry> entries_;
};

}  // namespace cellblock::gateway
