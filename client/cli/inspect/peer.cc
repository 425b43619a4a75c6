#include "client/cli/inspect/peer.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "client/cli/terminal/json_text.h"
#include "client/connection/rpc_text.h"
#include "policy/base/result.h"
#include "policy/mcp/methods.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using client::Result;

// As the gateway's own bounds for the same (docs/protocol.md).
constexpr unsigned most_rounds = 8;
constexpr std::chrono::milliseconds pause_where_nothing_is_asked{250};

client::Options with_identity(client::Options options, Interaction interaction) {
  options.client_name = "cellblock";
  options.client_version = CELLBLOCK_VERSION;
  options.capabilities = capabilities_for(interaction);
  return options;
}

std::unexpected<client::Error> unexpected_list(const ListFacts& facts) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::protocol,
                    .text = fmt::format("the answer holds no list of {}", facts.word)});
}

std::unexpected<client::Error> endless_list(const ListFacts& facts) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::too_large,
                    .text = fmt::format("the server's list of {} is too long", facts.word)});
}

std::unexpected<client::Error> stopped() {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::cancelled, .text = "cancelled by the caller"});
}

class Depth {
 public:
  explicit Depth(unsigned& depth) : depth_(depth) { ++depth_; }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace

Peer::Peer(Settings settings, client::Options options)
    : settings_(settings),
      on_request_(settings.interaction == Interaction::terminal ? options.on_request : nullptr),
      limits_(options.limits),
      session_(context_.get_executor(), with_identity(std::move(options), settings.interaction)) {}

template <class T, class Start>
Result<T> Peer::wait(Start start) {
  std::optional<Result<T>> result;
  const Depth asking(asking_);
  start([&result](Result<T> outcome) { result = std::move(outcome); });
  while (!result) {
    context_.restart();
    context_.run_one();
  }
  if (!*result && result->error().code == client::ErrorCode::disconnected) {
    return std::unexpected(loss(result->error()));
  }
  return *std::move(result);
}

client::Error Peer::loss(const client::Error& error) {
  if (!loss_) loss_ = explainer_ ? explainer_(error) : error;
  return *loss_;
}

Result<void> Peer::open(const std::string& server, const client::AttachOptions& with) {
  CELLBLOCK_CHECK(wait<void>([&](auto done) { session_.connect(std::move(done)); }));
  client::AttachOptions all = with;
  if (server.empty()) all.tools = client::ToolListing::all;  // whatever its hosts are listed
  CELLBLOCK_CHECK(wait<client::Attached>(
      [&](auto done) { session_.attach(server, all, settings_.start_timeout, std::move(done)); }));
  return greet();
}

Result<void> Peer::greet() {
  if (settings_.era == Era::legacy) {
    introduction_ = CELLBLOCK_TRY(wait<std::string>(
        [&](auto done) { session_.initialize(settings_.start_timeout, std::move(done)); }));
  } else {
    introduction_ = CELLBLOCK_TRY(ask_once(std::string(mcp::method::discover), Json::object()));
  }
  return {};
}

Result<std::string> Peer::ask_once(const std::string& method, Json params) {
  stamp(params, settings_.era, settings_.interaction, method, next_token_++);
  const auto text = dumped(params);
  return wait<std::string>([&](auto done) {
    static_cast<void>(session_.request(method, text, settings_.call_timeout, std::move(done)));
  });
}

Result<std::string> Peer::ask(const std::string& method, Json params) {
  const Depth asking(asking_);
  cancelled_ = false;
  for (unsigned round = 1;; ++round) {
    auto result = CELLBLOCK_TRY(ask_once(method, params));
    const auto needed = input_needed(result);
    const bool can_answer = on_request_ || (needed && needed->questions.empty());
    if (!needed || !can_answer || round > most_rounds) return result;
    answer(params, *needed);
    if (cancelled_) return stopped();
  }
}

void Peer::answer(Json& params, const InputNeeded& needed) {
  params.erase("inputResponses");
  params.erase("requestState");
  if (!needed.state.is_null()) params["requestState"] = needed.state;
  if (needed.questions.empty()) return pause();
  auto& responses = params["inputResponses"] = Json::object();
  for (const auto& [key, question] : needed.questions.items()) responses[key] = answer_to(question);
  context_.restart();
  context_.poll();  // a Ctrl-C while a question was on the screen
}

Json Peer::answer_to(const Json& question) {
  if (!question.is_object()) return {{"action", "cancel"}};
  const auto method = question.value("method", Json(""));
  const auto params = question.value("params", Json::object());
  const auto answer =
      on_request_(method.is_string() ? method.get<std::string>() : "", dumped(params));
  return answer ? Json::parse(*answer, nullptr, false) : Json{{"action", "cancel"}};
}

void Peer::pause() {
  boost::asio::steady_timer timer(context_, pause_where_nothing_is_asked);
  bool over = false;
  timer.async_wait([&over](const boost::system::error_code&) { over = true; });
  while (!over) {
    context_.restart();
    context_.run_one();
    if (cancelled_) timer.cancel();
  }
}

Result<void> Peer::notify(const std::string& method, const Json& params) {
  CELLBLOCK_CHECK(session_.notify(method, dumped(params)));
  context_.restart();
  context_.poll();
  return {};
}

Result<std::vector<Json>> Peer::list(ListKind kind) {
  const auto& facts = facts_of(kind);
  std::vector<Json> items;
  auto params = Json::object();
  for (std::size_t page = 0; page < limits_.list_pages; ++page) {
    const auto text = CELLBLOCK_TRY(ask_once(std::string(facts.method), params));
    const auto json = Json::parse(text, nullptr, false);
    const auto found = json.find(facts.member);
    if (!json.is_object() || found == json.end() || !found->is_array()) {
      return unexpected_list(facts);
    }
    for (const auto& item : *found) items.push_back(item);
    if (items.size() > limits_.list_items) break;
    const auto next = json.value("nextCursor", Json());
    if (!next.is_string() || next.get_ref<const std::string&>().empty()) return items;
    params["cursor"] = next;
  }
  return endless_list(facts);
}

void Peer::cancel() {
  cancelled_ = true;
  session_.cancel_all();
}

}  // namespace cellblock::cli
