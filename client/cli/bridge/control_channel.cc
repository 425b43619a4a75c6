#include "client/cli/bridge/control_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/connection/channel.h"
#include "client/connection/rpc_text.h"
#include "client/connection/tool_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using client::ErrorCode;

constexpr std::size_t longest_control_line = 1U << 20;
constexpr std::chrono::seconds attach_send_time{10};

std::unexpected<client::Error> failed(ErrorCode code, std::string text) {
  return std::unexpected(client::Error{.code = code, .text = std::move(text)});
}

std::vector<int> descriptors_of(const AttachWith& with) {
  std::vector<int> descriptors;
  if (with.handover == Handover::yes) descriptors = {STDIN_FILENO, STDOUT_FILENO};
  if (with.journal >= 0) descriptors.push_back(with.journal);
  if (with.workspace >= 0) descriptors.push_back(with.workspace);
  return descriptors;
}

client::Result<AttachOutcome> read_outcome(const std::string& line, Handover offered) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return failed(ErrorCode::protocol, "the daemon's answer is not JSON-RPC");
  if (json.contains("error")) {
    // An error without an id comes from the daemon, which never saw the descriptors.
    const bool taken = offered == Handover::yes && json.contains("id");
    return AttachOutcome{.taken = taken ? Handover::yes : Handover::no,
                         .is_journalled = false,
                         .failure = json["error"].dump()};
  }
  const auto result = json.find("result");
  const auto says = [&](const char* name) {
    return result != json.end() && result->is_object() &&
           result->value(name, Json(false)) == Json(true);
  };
  return AttachOutcome{.taken = says("stdio") ? Handover::yes : Handover::no,
                       .is_journalled = says("journal"),
                       .failure = {}};
}

// Empty unless the line is cellblock/ended.
Ending read_ending(const std::string& line) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("method", Json()) != Json(control_method::ended)) return {};
  const auto params = json.value("params", Json::object());
  if (!params.is_object()) return {};
  const auto reason = params.value("reason", Json());
  Ending ending{.reason = reason.is_string() ? reason.get<std::string>() : "unknown",
                .failure = {},
                .message = {},
                .resume = {}};
  if (params.contains("failure")) ending.failure = params["failure"].dump();
  const auto message = params.value("message", Json());
  if (message.is_string()) ending.message = message;
  if (params.contains("resume")) ending.resume = params["resume"].dump();
  return ending;
}

}  // namespace

client::Result<AttachOutcome> ControlChannel::attach(const std::string& server,
                                                     const AttachWith& with) {
  // Hosts start the bridge to ask one thing, or twice; what they ask is often known already.
  auto params = client::attach_params(server,
                                      {.stdio = with.handover == Handover::yes,
                                       .journal = with.journal >= 0,
                                       .workspace = with.workspace >= 0,
                                       .on_demand = true,
                                       .tools = with.tools},
                                      with.labels, with.role);
  if (!with.resume.empty()) params.insert(params.size() - 1, R"(,"resume":)" + with.resume);
  CELLBLOCK_CHECK(send_attach(client::request_line("1", control_method::attach, params), with));
  return read_outcome(CELLBLOCK_TRY(next_line(never)), with.handover);
}

client::Result<void> ControlChannel::send_attach(const std::string& line, const AttachWith& with) {
  std::string_view rest = line;
  if (const auto descriptors = descriptors_of(with); !descriptors.empty()) {
    const std::size_t sent = CELLBLOCK_TRY(send_with(rest, descriptors));
    if (sent == 0) return {};
    rest.remove_prefix(sent);
  }
  (void)write_until(socket_.get(), rest, std::chrono::steady_clock::now() + attach_send_time);
  return {};
}

// 0: it is not taken, and reading says why.
client::Result<std::size_t> ControlChannel::send_with(std::string_view line,
                                                      std::span<const int> descriptors) {
  for (unsigned attempt = 1;; ++attempt) {
    const auto sent = client::send_with_descriptors(socket_.get(), line, descriptors);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    // A fresh connection has room; without it the daemon turned us away.
    if (errno == EAGAIN || client::is_gone(errno)) return 0;
    const auto wait = errno == EPERM ? client::descriptors_backoff(attempt) : std::nullopt;
    if (!wait) return std::unexpected(client::not_sent(errno));
    const auto now = std::chrono::steady_clock::now();
    if (now >= host_deadline_) return failed(ErrorCode::timed_out, "the host is gone");
    if (wait_readable(now + *wait)) return 0;
  }
}

Ending ControlChannel::wait_for_end(Deadline deadline) {
  while (true) {
    const auto line = next_line(deadline);
    if (!line) return {};
    if (auto ending = read_ending(*line); !ending.reason.empty()) return ending;
  }
}

client::Result<std::string> ControlChannel::next_line(Deadline deadline) {
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (buffer_.size() > longest_control_line) {
      return failed(ErrorCode::too_large, "the daemon's answer is too long");
    }
    if (!wait_readable(deadline)) return failed(ErrorCode::timed_out, "no answer in time");
    std::array<char, 4096> bytes{};
    const auto read = read_some(socket_.get(), bytes);
    if (read.progress == Progress::ended) {
      return failed(ErrorCode::disconnected, "the daemon closed the connection");
    }
    buffer_.append(bytes.data(), read.bytes);
  }
}

bool ControlChannel::wait_readable(Deadline deadline) {
  while (true) {
    // A pipe reports its writers' end by POLLHUP, asked or not; a socket by POLLRDHUP. One that
    // nobody reads any more says so by itself.
    std::array<pollfd, 3> watched{
        pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = input_ended_ ? -1 : STDIN_FILENO, .events = POLLRDHUP, .revents = 0},
        pollfd{.fd = output_closed_ ? -1 : STDOUT_FILENO, .events = 0, .revents = 0}};
    const int timeout = poll_timeout(std::min(deadline, host_deadline_));
    const int count = ::poll(watched.data(), watched.size(), timeout);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    watch_host(watched[1], watched[2]);
    if (watched[0].revents != 0) return true;
  }
}

void ControlChannel::watch_host(const pollfd& input, const pollfd& output) {
  const auto now = std::chrono::steady_clock::now();
  if (input.revents != 0) {
    input_ended_ = true;
    host_deadline_ = std::min(host_deadline_, now + answers_time);
  }
  if (output.revents != 0) {
    output_closed_ = true;
    host_deadline_ = std::min(host_deadline_, now + end_grace);
  }
}

}  // namespace cellblock::cli
