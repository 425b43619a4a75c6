#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/os/clock.h"

/// Finds out what a server offers, in cells of its own. The first cell is asked whether the server
/// speaks the modern era. If it does not say so, a second cell is asked as a legacy host would ask,
/// since the unknown question may have spoiled the first. A server that has no `initialize` either,
/// and did not refuse server/discover, was only slow: a third cell is given all of the survey's
/// time. Then all pages of all promised lists are read. Pure.
namespace cellblock::gateway {

struct Discovered {
  Catalogue catalogue;  ///< the caller, which has a clock, sets `found_at_ms`
  Findings findings;
  Eras eras;  ///< silence is no proof: a legacy server that said nothing to server/discover
              ///< leaves `modern` unknown
};

/// What a cell said that was no answer, escaped.
struct CellWords {
  std::string text;  ///< "; last words: \"…\"", or empty
  std::vector<std::string> stderr_tail;
  std::string advice;  ///< the remedy for its silence, where it is known; else empty
};

class DiscoveryEffects {
 public:
  virtual void start_cell() = 0;
  virtual void to_cell(std::string_view line) = 0;  ///< without its newline
  /// Then cell_over() follows, and nothing of the cell comes any more.
  virtual void stop_cell() = 0;
  /// The one deadline; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;
  /// The last words of the running cell.
  virtual CellWords words() const = 0;
  /// Once, one of these two; the cell is stopped.
  virtual void found(Discovered surveyed) = 0;
  virtual void failed(const Failure& failure) = 0;

 protected:
  ~DiscoveryEffects() = default;
};

class Discovery {
 public:
  /// `server` outlives it.
  Discovery(const Server& server, const CatalogueRules& rules, const SurveyStart& start,
            DiscoveryEffects& effects);

  void begin(Time now);
  void cell_running(Time now);
  void from_cell(std::string_view line, const Message& message, Time now);
  /// An answer was no valid message, or was too long.
  void answer_lost(const Failure& failure, Time now);
  /// The cell did not start, or it ended by itself.
  void cell_gone(const Failure& failure, Time now);
  /// After stop_cell().
  void cell_over(Time now);
  void deadline(Time now);

  /// The id of the request that waits for its answer, in raw JSON.
  bool owns(std::string_view id) const;

 private:
  enum class State : std::uint8_t {
    asking,        ///< server/discover
    between,       ///< a cell ends before the next one starts
    initializing,  ///< a legacy handshake
    listing,
    done,
  };

  enum class ReadResult : std::uint8_t { nothing, something };

  void start(State state, Time now);
  void start_another(State state, Time now);
  Milliseconds patience() const;
  void set_deadline(Time now);
  void ask(const std::string& request, Time now);
  void answered(std::string_view line, const Message& message, Time now);
  void discover_answered(std::string_view line, const Message& message, Time now);
  void initialize_answered(std::string_view line, const Message& message, Time now);
  void list_answered(std::string_view line, const Message& message, Time now);
  void introduced(Era era, std::string_view result, Time now);
  void initialize_refused(std::string_view error, Time now);
  void is_not_modern(const Failure& because, ReadResult heard, Time now);
  void next_page(Time now);
  void finish();
  void fail_with(const Failure& failure);
  void fail(std::string_view cause);
  Failure failure_of(std::string_view cause, FailureCode code = FailureCode::bad_answer) const;
  std::string lateness(Time now) const;
  std::string_view waiting_for() const;

  const Server& server_;
  const CatalogueRules& rules_;
  const SurveyStart start_;
  DiscoveryEffects& effects_;

  State state_ = State::asking;
  State next_ = State::initializing;  ///< after `between`
  bool running_ = false;
  bool has_no_initialize_ = false;                ///< it said so in this survey
  ReadResult to_discover_ = ReadResult::nothing;  ///< something: and it was no modern introduction
  Time asked_at_;
  Time ends_;  ///< of the whole survey
  Time probe_ends_;
  std::uint64_t asked_ = 0;  ///< our last request's id
  Catalogue catalogue_;
  Findings findings_;
  ListPages pages_;
};

}  // namespace cellblock::gateway
