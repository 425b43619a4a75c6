#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/audit/audit_line.h"
#include "supervisor/audit/chained_log.h"
#include "supervisor/audit/journal.h"
#include "supervisor/os/sys.h"

struct pollfd;

/// Reads every gateway's audit socket, appends to the log, and tells each gateway what of its
/// records is there. One thread, blocking.
namespace cellblock::audit {

/// Twice the most gateways that there can be: an old one's socket may linger beside the new one's.
inline constexpr std::size_t max_sources = 1024;

class AuditWriter {
 public:
  /// `control` brings orders (wire::AuditOrder), the first of which is `begin`.
  AuditWriter(Fd control, LogFiles files, std::string boot);

  /// Until the supervisor closes `control`; what was sent before that is still written. An error: a
  /// line could not be written whole, after which nothing more may be called.
  Result<void> run();

 private:
  struct Source {
    std::uint32_t uid = 0;
    std::uint64_t gateway = 0;
    Teller teller{};
    Fd socket;
    std::uint64_t written = 0;  ///< its last record in the log
    std::uint64_t told = 0;     ///< that it knows of
  };
  enum class Supervisor : std::uint8_t { present, gone };

  Result<void> begin();
  Result<Supervisor> serve_once();
  std::vector<pollfd> wanted() const;
  Result<Supervisor> read_control();
  void add_source(const wire::AuditOrder& order, Fd socket);
  Result<void> obey(const wire::AuditOrder& order, std::vector<Fd> fds);
  Result<void> drain();
  /// How many records are read from one source before the next has its turn.
  static constexpr std::size_t batch = 64;

  /// True when something was read. A source that ended or sent nonsense is closed.
  Result<bool> read_some(Source& source);
  /// One record, as a line of the log to be written; false when there is none.
  Result<bool> read_record(Source& source);
  void tell(Source& source) const;
  Result<void> ask_for_room();
  void forget_closed();

  Fd control_;
  LogFiles files_;
  std::string boot_;
  std::optional<ChainedLog> log_;
  Journal journal_;
  std::uint64_t max_bytes_ = 0;
  bool asked_ = false;  ///< for the next file
  std::vector<Source> sources_;
};

}  // namespace cellblock::audit
