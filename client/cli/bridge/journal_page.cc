#include "client/cli/bridge/journal_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/encoding/base64.h"
#include "policy/failures/errno_and_signal_names.h"
#include "policy/failures/failure.h"
#include "policy/failures/resumable_session.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int size_seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

std::unexpected<client::Error> no_memory(const char* call) {
  return std::unexpected(client::Error{
      .code = client::ErrorCode::unavailable,
      .text =
          std::string("no memory for the session's journal: ") + call + ": " + errno_name(errno)});
}

Failure crash_failure() {
  Failure failure;
  failure.code = FailureCode::server_failed;
  failure.message =
      "cellblock was ended from outside, or crashed, while this was in flight: whether it was "
      "carried out is not known";
  failure.cause = "a process of cellblock ended unexpectedly";
  failure.advice = "find out what was done before you call again; further calls are served";
  return failure;
}

std::string answer_to(const JournalledCall& call) {
  const Failure failure = crash_failure();
  if (call.shape == CallShape::request) return error_reply(call.id, failure);
  const Era era = call.shape == CallShape::modern_tool ? Era::modern : Era::legacy;
  return tool_error_reply(call.id, failure, era);
}

/// nullopt: it is no request.
std::optional<JournalledCall> call_of(std::string_view line) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("id") || !json.contains("method")) return std::nullopt;
  JournalledCall call{.id = json["id"].dump(), .shape = CallShape::request};
  if (json["method"] != Json(mcp::method::tools_call)) return call;
  const auto params = json.value("params", Json::object());
  const auto meta = params.is_object() ? params.value("_meta", Json::object()) : Json::object();
  const bool is_modern = meta.is_object() && meta.contains(mcp::meta_key::version);
  call.shape = is_modern ? CallShape::modern_tool : CallShape::legacy_tool;
  return call;
}

std::vector<JournalledCall> calls_in(std::string_view lines) {
  std::vector<JournalledCall> calls;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    if (auto call = call_of(lines.substr(0, end))) calls.push_back(*std::move(call));
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
  return calls;
}

// One value has many spellings ("a" and "\\u0061", 1 and 1.0), and a host that has its answer takes
// another one for an error.
std::string id_value(const std::string& id) {
  const auto json = Json::parse(id, nullptr, false);
  if (json.is_discarded()) return id;
  constexpr double exact = 9'007'199'254'740'992.0;
  const double number = json.is_number_float() ? json.get<double>() : 0.5;
  const bool is_integer = std::abs(number) <= exact && std::trunc(number) == number;
  return is_integer ? Json(static_cast<std::int64_t>(number)).dump() : json.dump();
}

// What was begun may have been carried out: it is answered, and never said again.
std::string answers_to(const JournalContent& content) {
  std::vector<JournalledCall> calls = content.calls;
  std::ranges::move(calls_in(content.taken), std::back_inserter(calls));
  // Ends what is left of a line that was not written to its end.
  std::string lines = content.is_output_partial ? "\n" : "";
  std::set<std::string> answered;
  for (const JournalledCall& call : calls) {
    if (answered.insert(id_value(call.id)).second) lines += answer_to(call) + '\n';
  }
  return lines;
}

std::string resume_of(const JournalContent& content) {
  if (!content.memory) return {};
  const auto memory = Json::parse(*content.memory, nullptr, false);
  if (memory.is_discarded()) return {};
  return Json{{"memory", memory}, {"unread", base64_text(content.unread)}}.dump();
}

}  // namespace

client::Result<JournalPage> JournalPage::make() {
  client::OwnedFd memory(::memfd_create("cellblock-session", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return no_memory("memfd_create");
  if (::ftruncate(memory.get(), static_cast<off_t>(session_journal_bytes)) < 0) {
    return no_memory("ftruncate");
  }
  if (::fcntl(memory.get(), F_ADD_SEALS, size_seals) < 0) return no_memory("fcntl");
  void* const mapped =
      ::mmap(nullptr, session_journal_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return no_memory("mmap");
  return JournalPage(std::move(memory), {static_cast<char*>(mapped), session_journal_bytes});
}

JournalPage::JournalPage(JournalPage&& other) noexcept
    : memory_(std::move(other.memory_)), mapped_(std::exchange(other.mapped_, {})) {}

JournalPage::~JournalPage() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

CrashedSession JournalPage::after_crash(const std::string& resume) const {
  const auto content = read_journal(mapped_);
  // It died before it read anything of the host's.
  if (!content)
    return {.answers = {}, .resume = resume.empty() ? resume_of({.memory = "null"}) : resume};
  return {.answers = answers_to(*content), .resume = resume_of(*content)};
}

}  // namespace cellblock::cli
