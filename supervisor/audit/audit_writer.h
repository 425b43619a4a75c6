#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/audit/audit_line.h"
#include "supervisor/kernel/sys.h"

/// Reads every gateway's audit socket and appends to the log. One thread, blocking.
namespace cellblock::audit {

/// Twice the most gateways that there can be: an old one's socket may linger beside the new one's.
inline constexpr std::size_t max_sources = 1024;

class AuditWriter {
 public:
  /// `control` brings sources (wire::AuditSource); `log` is opened with O_APPEND.
  AuditWriter(Fd control, Fd log, std::string boot);

  /// Until the supervisor closes `control`; what was sent before that is still written. An error: a
  /// line could not be written whole, after which nothing more may be called.
  Result<void> run();

 private:
  struct Source {
    std::uint32_t uid = 0;
    Fd socket;
  };
  enum class Supervisor : std::uint8_t { present, gone };

  Result<Supervisor> serve_once();
  Result<Supervisor> read_control();
  Result<void> drain();
  /// How many records are read from one source before the next has its turn, and are written with
  /// one call.
  static constexpr std::size_t batch = 64;

  /// True when something was read. A source that ended or sent nonsense is closed.
  Result<bool> read_some(Source& source);
  /// One record, as a line at the end of `lines`; false when there is none.
  bool read_record(Source& source, std::string& lines);
  Result<void> append(const std::string& lines) const;
  void forget_closed();

  Fd control_;
  Fd log_;
  std::string boot_;
  std::uint64_t sequence_ = 0;
  std::vector<Source> sources_;
};

}  // namespace cellblock::audit
