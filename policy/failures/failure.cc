#include "policy/failures/failure.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/failures/errno_and_signal_names.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_stderr_lines = 10;

std::string_view name_of_kind(EndKind kind) {
  switch (kind) {
    case EndKind::not_ended:
      return "not_ended";
    case EndKind::setup_failed:
      return "setup_failed";
    case EndKind::exited:
      return "exited";
    case EndKind::signalled:
      return "signalled";
    case EndKind::killed_by_filter:
      return "killed_by_filter";
    case EndKind::out_of_memory:
      return "out_of_memory";
    case EndKind::egress_ended:
      return "egress_ended";
  }
  return "unknown";
}

/// Texts may hold bytes of a host or a server: what is no UTF-8 is replaced, nothing throws.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json facts_of(const CellFacts& facts) {
  Json json = {{"kind", name_of_kind(facts.kind)}, {"exit_code", facts.exit_code},
               {"step", name_of(facts.step)},      {"errno", facts.error},
               {"signal", facts.signal},           {"syscall", nullptr},
               {"cpu_us", facts.cpu_microseconds}, {"max_rss_kib", facts.max_rss_kib},
               {"memory_peak", facts.memory_peak}, {"pids_peak", facts.pids_peak},
               {"oom_kills", facts.oom_kills}};
  if (facts.kind == EndKind::killed_by_filter) {
    json["syscall"] = {{"arch", facts.syscall_arch},
                       {"number", facts.syscall_number},
                       {"name", syscall_name(facts.syscall_arch, facts.syscall_number)}};
  }
  return json;
}

Json last_lines(const std::vector<std::string>& lines) {
  const std::size_t count = std::min(lines.size(), most_stderr_lines);
  return std::vector<std::string>(lines.end() - static_cast<std::ptrdiff_t>(count), lines.end());
}

Json data_of(const Failure& failure) {
  Json data = {{"code", name_of(failure.code)}, {"advice", advice_of(failure)}};
  if (!failure.server.empty()) data["server"] = failure.server;
  if (failure.retry_after) data["retry_after_ms"] = failure.retry_after->count();
  if (failure.code != FailureCode::server_failed) return data;
  data["cause"] = failure.cause;
  data["verdict"] = failure.verdict;
  data["facts"] = facts_of(failure.facts);
  data["stderr"] = last_lines(failure.stderr_tail);
  return data;
}

/// The id is spliced in as it came, never parsed: a host gets its own spelling back.
std::string reply(std::string_view id, std::string_view member, const Json& value) {
  std::string text = R"({"jsonrpc":"2.0")";
  if (!id.empty()) text.append(R"(,"id":)").append(id);
  text.append(",\"").append(member).append("\":").append(dump(value)).append("}");
  return text;
}

}  // namespace

std::string_view advice_of(const Failure& failure) {
  return failure.advice.empty() ? advice_for(failure.code) : std::string_view{failure.advice};
}

std::string failure_data(const Failure& failure) { return dump(data_of(failure)); }

std::string facts_json(const CellFacts& facts) { return dump(facts_of(facts)); }

std::string error_reply(std::string_view id, const Failure& failure) {
  return reply(id, "error",
               {{"code", error_code_of(failure.code)},
                {"message", failure.message},
                {"data", data_of(failure)}});
}

std::string tool_error_reply(std::string_view id, const Failure& failure, Era era) {
  const auto block = [](std::string_view text) -> Json {
    return {{"type", "text"}, {"text", text}};
  };
  Json result = {{"content", {block(failure.message), block(advice_of(failure))}},
                 {"isError", true}};
  // Required of every result since 2026-07-28, and unknown before.
  if (era == Era::modern) result["resultType"] = "complete";
  result["_meta"] = {{mcp::meta_key::error, data_of(failure)}};
  return reply(id, "result", result);
}

}  // namespace cellblock
