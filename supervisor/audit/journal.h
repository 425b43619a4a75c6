#pragma once

#include <string>
#include <vector>

#include "supervisor/audit/audit_line.h"
#include "supervisor/os/sys.h"

/// The lines of the log as entries of the system's journal, with fields of their own.
namespace cellblock::audit {

/// One entry in the journal's own protocol. `line`: where the record stands in the log.
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
