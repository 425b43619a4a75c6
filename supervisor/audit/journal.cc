#include "supervisor/audit/journal.h"

#include <fmt/format.h>
#include <sys/socket.h>

namespace cellblock::audit {
namespace {

constexpr int notice = 5;
constexpr int warning = 4;
constexpr int info = 6;
constexpr int for_administrators = 10;  // LOG_AUTHPRIV, without its shift

int priority_of(wire::AuditOutcome outcome) {
  if (outcome == wire::AuditOutcome::denied) return notice;
  return outcome == wire::AuditOutcome::error ? warning : info;
}

std::string joined(std::string_view first, const std::string& second) {
  return second.empty() ? std::string(first) : fmt::format("{} {}", first, second);
}

}  // namespace

std::string journal_entry(const wire::AuditRecord& record, const Stamp& stamp,
                          const ChainPoint& line) {
  // Escaped, so that none has a newline, with which a field ends.
  const std::string server = escaped({record.server.data(), record.server_length});
  const std::string tool = escaped({record.tool.data(), record.tool_length});
  const std::string reason = escaped(record.reason.data());
  const std::string_view traceparent = traceparent_of(record);
  const std::string_view kind = name_of(record.kind);
  const std::string_view outcome = name_of(record.outcome);
  const std::string event = record.outcome == wire::AuditOutcome::none
                                ? std::string(kind)
                                : fmt::format("{} {}", kind, outcome);
  const std::string message = joined(joined(joined(event, server), tool), reason);
  return fmt::format(
      "MESSAGE={}\nPRIORITY={}\nSYSLOG_IDENTIFIER=cellblock-audit\nSYSLOG_FACILITY={}\n"
      "CELLBLOCK_SEQ={}\nCELLBLOCK_HASH={}\nCELLBLOCK_KIND={}\nCELLBLOCK_OUTCOME={}\n"
      "CELLBLOCK_UID={}\nCELLBLOCK_SERVER={}\nCELLBLOCK_TOOL={}\nCELLBLOCK_REASON={}\n"
      "CELLBLOCK_SESSION={}\nCELLBLOCK_CELL={}\nCELLBLOCK_CALL={}\n{}",
      message, priority_of(record.outcome), for_administrators, line.sequence, hex_of(line.hash),
      kind, outcome, stamp.uid, server, tool, reason, record.session, record.cell, record.call,
      traceparent.empty() ? "" : fmt::format("CELLBLOCK_TRACEPARENT={}\n", traceparent));
}

void Journal::add(const wire::AuditRecord& record, const Stamp& stamp, const ChainPoint& line) {
  if (socket_.valid()) entries_.push_back(journal_entry(record, stamp, line));
}

void Journal::send() {
  for (const std::string& entry : entries_) {
    static_cast<void>(
        ::send(socket_.get(), entry.data(), entry.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
  entries_.clear();
}

}  // namespace cellblock::audit
