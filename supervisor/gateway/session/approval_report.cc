#include "supervisor/gateway/session/approval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "policy/base/printable.h"
#include "policy/json/json_text.h"
#include "policy/pins/definition.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t preview = 256;  // bytes of arguments, in a list
constexpr std::size_t named_besides = 8;
constexpr std::size_t longest_name = 64;

enum class Shown : std::uint8_t { beginning, whole };

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t milliseconds(Time::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string digest_text(const ApprovalRequest& request, const Config& config) {
  return hex_of(digest_of(fmt::format("{}\n{}\n{}\n{}", config.servers[request.server].name,
                                      request.method, request.name, request.params)));
}

// A progress token only identifies a call, so an approval need not show it.
bool is_progress_token_alone(const RawMember& member) {
  constexpr std::string_view beginning = R"({"progressToken":)";
  const std::string_view value = member.value;
  return member.name == "_meta" && value.starts_with(beginning) && value.ends_with('}') &&
         std::ranges::all_of(value.substr(beginning.size(), value.size() - beginning.size() - 1),
                             [](char c) { return c >= '0' && c <= '9'; });
}

// Names of the members that a list does not show, but that also go to the server.
Json names_besides(const ApprovalRequest& request) {
  Json names = Json::array();
  for (const RawMember& member : raw_members(request.params).value_or(std::vector<RawMember>{})) {
    if (member.name == "name" || member.name == "arguments" || member.name == "uri") continue;
    if (is_progress_token_alone(member)) continue;
    names.push_back(names.size() < named_besides ? printable(member.name, longest_name) : "…");
    if (names.size() > named_besides) break;
  }
  return names;
}

// Shows arguments as texts: byte for byte what is sent, not what a parser made of it.
Json json_of(const PendingApproval& entry, const Config& config, Shown shown, Time now) {
  const ApprovalRequest& request = entry.request;
  const bool is_whole = shown == Shown::whole || request.arguments.size() <= preview;
  Json json = {{"approval", entry.number},
               {"server", config.servers[request.server].name},
               {"method", request.method},
               {"name", request.name},
               {"rule", request.rule},
               {"approver", request.approver == Approver::admin ? "admin" : "user"},
               {"session", request.session},
               {"cell", request.cell},
               {"waits_ms", milliseconds(now - entry.asked)},
               {"left_ms", milliseconds(entry.until - now)},
               {"times", entry.times},
               {"arguments_bytes", request.arguments.size()},
               {"arguments", is_whole ? request.arguments : request.arguments.substr(0, preview)},
               {"besides", names_besides(request)},
               {"params_bytes", request.params.size()},
               {"digest", digest_text(request, config)}};
  if (shown == Shown::whole) json["params"] = request.params;
  if (!is_whole) json["cut"] = true;
  return json;
}

}  // namespace

std::string approvals_json(const Approvals& approvals, const Config& config, std::uint64_t number,
                           Time now) {
  Json list = Json::array();
  for (const PendingApproval& entry : approvals.entries()) {
    if (entry.state != ApprovalState::waits || (number != 0 && entry.number != number)) continue;
    list.push_back(json_of(entry, config, number == 0 ? Shown::beginning : Shown::whole, now));
  }
  return dump({{"approvals", list}});
}

std::string decide_json(Approvals& approvals, const Config& config, const ApprovalWord& word,
                        std::uint32_t by, Time now) {
  const auto& entries = approvals.entries();
  const auto meant = std::ranges::find(entries, word.number, &PendingApproval::number);
  const bool is_another = !word.digest.empty() && meant != entries.end() &&
                          word.digest != digest_text(meant->request, config);
  if (is_another) {
    return dump({{"approval", word.number}, {"decided", false}, {"is_another", true}});
  }
  const PendingApproval* entry = approvals.decide(word.number, word.word, by, now);
  if (entry == nullptr) return dump({{"approval", word.number}, {"decided", false}});
  return dump({{"approval", word.number},
               {"decided", true},
               {"word", word.word == Approvals::Word::allow ? "allow" : "deny"},
               {"server", config.servers[entry->request.server].name},
               {"name", entry->request.name}});
}

}  // namespace cellblock::gateway
