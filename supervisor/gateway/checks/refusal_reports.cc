#include "supervisor/gateway/checks/refusal_reports.h"

#include <fmt/format.h>

#include <string>

#include "policy/failures/refusal_advice.h"
#include "policy/json/json_text.h"

namespace cellblock::gateway {
namespace {

// Longer ones are no reports of a file that could not be opened.
constexpr std::size_t longest_report = 64U << 10;
// A failure that is no error is a sentence; what is longer was found somewhere.
constexpr std::size_t longest_false_success = 4U << 10;

Span end_of(std::string_view line, std::string_view part) {
  const auto end = static_cast<std::uint32_t>(part.data() + part.size() - 1 - line.data());
  return {end, end};
}

bool is_marked_as_error(std::string_view result) {
  if (!result.contains("isError")) return false;  // most are not searched
  const auto members = raw_members(result);
  const RawMember* is_error = members ? find_member(*members, "isError") : nullptr;
  return is_error != nullptr && is_error->value == "true";
}

// Before the bracket that ends the result's content.
std::optional<Replacement> block_in(std::string_view line, std::string_view result,
                                    std::string_view advice) {
  const auto members = raw_members(result);
  const RawMember* content = members ? find_member(*members, "content") : nullptr;
  if (content == nullptr) return std::nullopt;
  const auto elements = raw_elements(content->value);
  if (!elements) return std::nullopt;
  return Replacement{
      end_of(line, content->value),
      fmt::format("{}{{\"type\":\"text\",\"text\":{}}}", elements->empty() ? "" : ",",
                  json_quoted(fmt::format("cellblock: {}", advice)))};
}

// Before the quote that ends its message.
std::optional<Replacement> words_in(std::string_view line, std::string_view error,
                                    std::string_view advice) {
  const auto members = raw_members(error);
  const RawMember* message = members ? find_member(*members, "message") : nullptr;
  if (message == nullptr || !is_raw_string(message->value)) return std::nullopt;
  const std::string quoted = json_quoted(fmt::format(" (cellblock: {})", advice));
  return Replacement{end_of(line, message->value), quoted.substr(1, quoted.size() - 2)};
}

}  // namespace

const std::vector<PathAdvice>& RefusalReports::advice_of(std::uint32_t server) {
  const auto found = advice_.find(server);
  if (found != advice_.end()) return found->second;
  return advice_[server] =
             path_advice_of(config_.servers[server], cell_client(*uid_, config_), config_.identity);
}

std::string RefusalReports::network_advice(std::uint32_t server, std::string_view report) const {
  const std::string allow = refused_name_ ? refused_name_(server) : std::string();
  return network_advice_for_report(config_.servers[server], report, allow);
}

std::optional<Replacement> RefusalReports::addition(std::uint32_t server, std::string_view line,
                                                    const Message& message,
                                                    const RefusedMeanwhile& refused) {
  if (!uid_ || server >= config_.servers.size() || line.size() > longest_report) {
    return std::nullopt;
  }
  const bool is_error = message.kind == MessageKind::error;
  const std::string_view report = (is_error ? message.error : message.result).in(line);
  std::string advice;
  if (is_error || is_marked_as_error(report)) {
    advice = advice_for_report(advice_of(server), report);
    if (advice.empty()) advice = network_advice(server, report);
  } else if (refused && report.size() <= longest_false_success) {
    advice = network_advice(server, report);
    if (!advice.empty() && !refused()) return std::nullopt;
  }
  if (advice.empty()) return std::nullopt;
  return is_error ? words_in(line, report, advice) : block_in(line, report, advice);
}

}  // namespace cellblock::gateway
