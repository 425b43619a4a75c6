#include "supervisor/gateway/records/server_news.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/base/printable.h"
#include "policy/base/server_set.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t longest_cause = 500;
constexpr std::size_t longest_named = 100;

std::string_view server_in(const AuditEntry& record) {
  return {record.server.data(), record.server_length};
}

std::string named_in(const AuditEntry& record) {
  auto name = printable({record.tool.data(), record.tool_length}, longest_named);
  std::ranges::replace(name, '"', '\'');  // the line puts it between quotes
  return name;
}

// The cause names no server: the line begins with it.
std::string words_of_end(const Failure& failure) {
  return printable(failure.cause.empty() ? failure.message : failure.cause, longest_cause);
}

}  // namespace

std::optional<std::string> ServerNews::ended(std::string_view server, std::uint64_t cell,
                                             const Failure& failure, Time now) {
  if (!is_crash(failure.verdict)) return std::nullopt;
  return line(crashes_, server,
              fmt::format("cell {}: {}: {}", cell, failure.verdict, words_of_end(failure)), now);
}

std::optional<std::string> ServerNews::recorded(const AuditEntry& record, std::uint32_t uid,
                                                Time now) {
  const std::string_view reason(record.reason.data());
  const std::string_view server = server_in(record);
  if (record.kind == wire::AuditKind::approval && reason == "asked") {
    return line(decisions_, server,
                fmt::format("\"{}\" waits for an approval: \"cellblock approve\" lists it",
                            named_in(record)),
                now);
  }
  if (record.kind == wire::AuditKind::pin && reason.starts_with("withheld")) {
    return line(decisions_, server,
                fmt::format("\"{}\" is {}: \"cellblock approve show {} --for {}\" shows it",
                            named_in(record), reason, server, uid),
                now);
  }
  return std::nullopt;
}

std::optional<std::string> ServerNews::line(Shares& shares, std::string_view server,
                                            const std::string& text, Time now) {
  Share& share = shares[std::string(server)];
  if (share.lines == 0 || now - share.began >= span) {
    share.began = now;
    share.lines = 0;
  }
  if (share.lines >= lines_per_span) {
    ++share.left_out;
    return std::nullopt;
  }
  ++share.lines;
  const std::uint64_t left_out = std::exchange(share.left_out, 0);
  const std::string before =
      left_out == 0 ? "" : fmt::format(" ({} more lines were left out before)", left_out);
  return server_tag(server) + " " + text + before;
}

}  // namespace cellblock::gateway
