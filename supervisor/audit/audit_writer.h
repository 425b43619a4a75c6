#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/audit/audit_line.h"
#include "supervisor/ipc/audit_packet.h"
#include "supervisor/os/sys.h"

namespace cellblock::audit {

/// The files that a writer is started with (wire::audit_fd).
struct LogFiles {
  Fd log;
  Fd written;
  Fd former;
};

/// One file of the log that is written, and the chain through all files. After an error nothing
/// more may be added: only the next writer reads what the file holds.
class ChainedLog {
 public:
  /// Finds where the log ends and begins behind it, with a line that says so. `boot` outlives it.
  static Result<ChainedLog> open(LogFiles files, std::string_view boot,
                                 wire::Durability durability);

  /// Adds one line, which is kept until write().
  void add(std::string_view fields);
  /// All that was added, in one call. Then it is in the log whole.
  Result<void> write();
  std::uint64_t bytes() const { return bytes_; }
  /// Holds from the next write() on.
  void wait_for(wire::Durability durability) { durability_ = durability; }
  /// The last line that was added.
  const ChainPoint& end() const { return at_; }

  /// Closes this file with a line that says why.
  Result<void> close(std::string_view reason);
  /// Continues in that file, which is empty.
  Result<void> go_on_in(Fd log);

 private:
  ChainedLog(Fd log, std::string_view boot, wire::Durability durability)
      : log_(std::move(log)), boot_(boot), durability_(durability) {}
  Result<void> begin(std::string_view reason, std::string_view torn);

  Fd log_;
  std::string_view boot_;
  wire::Durability durability_;
  ChainPoint at_;
  std::uint64_t bytes_ = 0;  ///< in the file
  std::string waiting_;
};

// The log in the system's journal: an entry a line, with fields.

/// One entry in the journal's native protocol. `line`: the record's place in the log.
std::string journal_entry(const wire::AuditRecord& record, const Stamp& stamp,
                          const ChainPoint& line);

/// What the journal does not take at once is not sent again: the log has it.
class Journal {
 public:
  /// Connected; invalid: nothing is sent.
  explicit Journal(Fd socket = {}) : socket_(std::move(socket)) {}

  void add(const wire::AuditRecord& record, const Stamp& stamp, const ChainPoint& line);
  /// What was added since.
  void send();

 private:
  Fd socket_;
  std::vector<std::string> entries_;
};

}  // namespace cellblock::audit

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
    RecordOrigin origin{};
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
  /// How many records became lines of the log to be written; 0: none came.
  Result<std::size_t> read_packet(Source& source);
  /// False: no honest source sends it, and the source is closed.
  Result<bool> add(Source& source, const AuditMessage& message, const Stamp& stamp);
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
