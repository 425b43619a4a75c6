#include "client/cli/common/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "cellblock/error.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"
#include "policy/base/result.h"
#include "policy/failures/failure.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int workspace_refused = -31012;
constexpr std::chrono::seconds control_time{10};
constexpr std::chrono::seconds longest_answer{2};
constexpr std::chrono::seconds unremarkable_wait{2};

/// While it lives, it looks once, after two seconds, whether the daemon answers at all: a socket of
/// the service manager's takes connections also where cellblockd cannot start. Where nothing
/// answers, a line on stderr says so; who waits goes on waiting.
class AnswerWatch {
 public:
  struct Daemon {
    std::function<bool()> answers;  ///< called on a thread of this object's
    std::string silence;            ///< what is said where it does not
    bool is_told = true;            ///< on stderr
  };

  explicit AnswerWatch(Daemon daemon);
  ~AnswerWatch();
  AnswerWatch(const AnswerWatch&) = delete;
  AnswerWatch& operator=(const AnswerWatch&) = delete;

  /// In place of `error` where nothing has answered, so that nobody is told to be more patient.
  client::Error instead_of(client::Error error) const;

 private:
  void look();

  Daemon daemon_;
  std::atomic<bool> is_silent_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread looks_;
};

AnswerWatch::AnswerWatch(Daemon daemon) : daemon_(std::move(daemon)), looks_([this] { look(); }) {}

AnswerWatch::~AnswerWatch() {
  {
    const std::scoped_lock hold(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  looks_.join();
}

void AnswerWatch::look() {
  {
    std::unique_lock hold(mutex_);
    if (changed_.wait_for(hold, unremarkable_wait, [this] { return is_over_; })) return;
  }
  if (daemon_.answers()) return;
  is_silent_ = true;
  if (!daemon_.is_told) return;
  fmt::print(stderr, "cellblock: {}\n", daemon_.silence);
  static_cast<void>(std::fflush(stderr));
}

client::Error AnswerWatch::instead_of(client::Error error) const {
  if (error.code != client::ErrorCode::timed_out || !is_silent_) return error;
  return {.code = client::ErrorCode::unreachable, .text = daemon_.silence};
}

// The last lines that a failed server wrote to stderr.
void print_stderr_of(const client::Error& error) {
  const auto data = Json::parse(error.data, nullptr, false);
  if (!data.is_object() || !data.contains("stderr") || !data["stderr"].is_array()) return;
  for (const auto& line : data["stderr"]) {
    if (line.is_string()) fmt::print(stderr, "  | {}\n", safe_line(line.get<std::string>()));
  }
}

// What every gateway answers at once, whatever its servers do.
bool is_answered(const Context& context) {
  auto connection = open(context);
  if (!connection) return true;  // whoever waits hears of it himself
  const auto status =
      connection->request(control_method::status, "{}", {.timeout = longest_answer, .stop = {}});
  return status.has_value() || status.error().code != client::ErrorCode::timed_out;
}

AnswerWatch::Daemon watched_daemon(const Context& context) {
  const auto own = client::user_socket_path();
  return {.answers = [context] { return is_answered(context); },
          .silence = fmt::format(
              "cellblockd does not answer at {}: it may have failed to start, and \"systemctl{} "
              "status cellblock\" says why",
              safe_line(context.socket), !own.empty() && context.socket == own ? " --user" : ""),
          .is_told = context.output == Output::human};
}

}  // namespace

client::Result<client::Client> open(const Context& context, client::FrameObserver on_frame) {
  client::Options options;
  options.socket = context.socket;
  options.client_name = "cellblock";
  options.on_frame = std::move(on_frame);
  return client::Client::connect(std::move(options));
}

client::Result<client::Client> open_server(const Context& context, const std::string& server,
                                           const client::AttachOptions& with,
                                           std::chrono::milliseconds timeout,
                                           client::FrameObserver on_frame) {
  const client::CallOptions bounded{.timeout = timeout, .stop = {}};
  const AnswerWatch watch(watched_daemon(context));
  auto connection = CELLBLOCK_TRY(open(context, std::move(on_frame)));
  if (auto attached = connection.attach(server, with, bounded); !attached) {
    return std::unexpected(
        naming_workspace(watch.instead_of(std::move(attached.error())), with.workspace));
  }
  CELLBLOCK_CHECK(connection.initialize(bounded));
  return connection;
}

client::Error naming_workspace(client::Error error, const std::string& workspace) {
  if (error.rpc_code != workspace_refused || workspace.empty()) return error;
  std::error_code none;
  const auto resolved = std::filesystem::canonical(workspace, none);
  error.text += fmt::format(" (asked for: {})", none ? workspace : resolved.string());
  return error;
}

client::Result<std::string> ask_daemon(const Context& context, std::string_view method,
                                       const std::string& params) {
  const AnswerWatch watch(watched_daemon(context));
  auto connection = CELLBLOCK_TRY(open(context));
  auto answer = connection.request(method, params, {.timeout = control_time, .stop = {}});
  if (!answer) return std::unexpected(watch.instead_of(std::move(answer.error())));
  return answer;
}

std::optional<client::Error> daemon_fault(const Context& context) {
  const auto answer = ask_daemon({.socket = context.daemon}, control_method::status, "{}");
  if (answer) return std::nullopt;
  auto error = answer.error();
  switch (error.code) {
    case client::ErrorCode::unreachable:
      error.text = fmt::format("no cellblockd is running ({})", error.text);
      return error;
    case client::ErrorCode::no_access:
    case client::ErrorCode::untrusted_listener:
    case client::ErrorCode::disconnected:
    case client::ErrorCode::timed_out:
      return error;
    default:  // whatever it says, somebody is there
      return error.failure == name_of(FailureCode::disabled) ? std::optional(error) : std::nullopt;
  }
}

Exit explain(const Context& context, const client::Error& error) {
  const bool has_no_door = !context.whose.empty() && error.code == client::ErrorCode::unreachable;
  if (const auto fault = has_no_door ? daemon_fault(context) : std::nullopt) {
    return explain({.socket = context.daemon, .output = context.output}, *fault);
  }
  return explain(context, error,
                 advice_on(error, {context.socket, context.whose, context.patience}));
}

Exit explain(const Context& context, const client::Error& error, const std::string& advice) {
  const auto exit = exit_for(error);
  // Wrapped lines stand further in than what is said below: a server could write them.
  fmt::print(stderr, "{}\n",
             wrapped("cellblock: " + safe_line(sentence_of(error)), error_width(), 4));
  print_stderr_of(error);
  if (!advice.empty()) fmt::print(stderr, "{}\n", wrapped("  " + advice, error_width(), 2));
  if (const auto topic = topic_of(error); !topic.empty()) {
    fmt::print(stderr, "  More: cellblock errors {}\n", topic);
  }
  if (context.output == Output::json) print_json(error_json(error, exit));
  return exit;
}

void say(const std::string& text) { fmt::print("{}\n", safe_text(text)); }

std::string error_json(const client::Error& error, Exit exit) {
  Json object{{"code", client::name_of(error.code)},
              {"message", sentence_of(error)},
              {"exit_code", static_cast<int>(exit)}};
  if (!error.failure.empty()) object["failure"] = error.failure;
  if (error.rpc_code != 0) object["rpc_code"] = error.rpc_code;
  if (auto data = Json::parse(error.data, nullptr, false); !data.is_discarded()) {
    object["data"] = std::move(data);
  }
  return Json{{"error", std::move(object)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Exit print_json(const std::string& json) {
  fmt::print("{}\n", ::isatty(STDOUT_FILENO) != 0 ? terminal_json(json) : json);
  return Exit::ok;
}

// The daemon has not been asked: there is no advice to give.
Exit cannot(const Context& context, const std::string& why) {
  fmt::print(stderr, "cellblock: {}\n", safe_text(why));
  if (context.output == Output::json) {
    print_json(error_json({.code = client::ErrorCode::invalid_argument, .text = why}, Exit::error));
  }
  return Exit::error;
}

}  // namespace cellblock::cli
