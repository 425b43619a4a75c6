#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/results/bounding_notes.h"
#include "policy/results/withheld.h"
#include "supervisor/gateway/checks/kept_total.h"
#include "supervisor/gateway/checks/kept_uri.h"
#include "supervisor/os/alarm.h"
#include "supervisor/os/clock.h"

/// What one session was not given of its results, to be read on: bounded in number, bytes and age.
/// Nobody but that session can read it, and it ends with it.
namespace cellblock::gateway {

struct KeptPart {
  PartKind kind = PartKind::text;
  std::string mime;
  std::string text;       ///< what is kept of it: its beginning
  std::size_t whole = 0;  ///< bytes that it had
};

struct KeptResult {
  std::string id;
  std::vector<KeptPart> parts;
  std::size_t page_bytes = 0;  ///< of what is read on at once: the bound that it was over
  std::uint64_t bytes = 0;
  Time at;
};

class KeptResults {
 public:
  using MakeAlarm = std::function<std::unique_ptr<Alarm>(Alarm::Rings)>;

  KeptResults(KeptTotal& total, MakeAlarm make_alarm);
  ~KeptResults();
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;

  /// As much as there is room for: older results make place.
  KeptParts keep(const std::vector<MissingPart>& parts, std::size_t page_bytes, Time now);

  struct Place {
    const KeptResult* result = nullptr;
    const KeptPart* part = nullptr;  ///< null: the whole
    std::size_t offset = 0;          ///< "?offset="
  };
  /// nullopt: no such URI, or what it named is gone. Valid until the next change.
  std::optional<Place> find(std::string_view uri, Time now);

  std::uint64_t bytes() const { return bytes_; }
  std::size_t size() const { return kept_.size(); }
  std::optional<Time> oldest() const;
  void drop_oldest();

 private:
  void expire(Time now);
  void set_alarm(Time now);

  KeptTotal& total_;
  const MakeAlarm make_alarm_;
  std::unique_ptr<Alarm> alarm_;
  std::deque<KeptResult> kept_;  ///< the oldest first
  std::uint64_t bytes_ = 0;
};

}  // namespace cellblock::gateway
