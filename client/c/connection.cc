#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "client/c/handles.h"
#include "policy/base/result.h"

/// A connection of the C interface.

namespace cellblock::client {
namespace {

// While it lives, cellblock_cancel() ends what waits. Of a callback that calls again: what is
// refused waits for nothing, and what waits can be ended as before.
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<cellblock_client_state> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    before_ = std::exchange(state_->stop, source_);
  }
  ~Waiting() {
    const std::lock_guard lock(state_->mutex);
    state_->stop = std::move(before_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::shared_ptr<cellblock_client_state> state_;
  std::stop_source source_;
  std::optional<std::stop_source> before_;
};

// `act` is given the client and the token that ends it.
template <class Act>
cellblock_code waiting(cellblock_client* client, cellblock_error** error, Act act) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr) return std::unexpected(bad_argument("no client"));
    const auto state = client->state;
    const Waiting now(state);
    return act(state->client, now.token());
  });
}

Result<std::map<std::string, std::string>> labels_of(const char* const* labels) {
  std::map<std::string, std::string> read;
  for (; labels != nullptr && *labels != nullptr; labels += 2) {
    if (labels[1] == nullptr) return std::unexpected(bad_argument("a label without a value"));
    read[labels[0]] = labels[1];
  }
  return read;
}

Result<ToolListing> tool_listing_of(std::string_view word) {
  if (word.empty()) return ToolListing::standard;
  if (word == "all") return ToolListing::all;
  if (word == "search") return ToolListing::search;
  return std::unexpected(bad_argument("`tools` is neither \"all\" nor \"search\""));
}

Result<AttachOptions> attach_options_of(const cellblock_attach_options& given) {
  AttachOptions options;
  options.workspace = or_empty(given.workspace);
  options.role = or_empty(given.role);
  options.start = given.on_demand == 0 ? StartWhen::now : StartWhen::on_demand;
  options.labels = CELLBLOCK_TRY(labels_of(given.labels));
  options.tools = CELLBLOCK_TRY(tool_listing_of(or_empty(given.tools)));
  return options;
}

CallOptions call_options_of(const cellblock_call_options& given) {
  CallOptions options{.timeout = duration_of(given.timeout_ms),
                      .at_most = duration_of(given.at_most_ms)};
  if (given.on_progress != nullptr) {
    options.on_progress = [tell = given.on_progress, user = given.user](const Progress& progress) {
      tell(user, progress.progress, progress.total.value_or(-1), progress.message.c_str());
    };
  }
  return options;
}

}  // namespace

std::chrono::milliseconds duration_of(uint64_t ms) {
  using std::chrono::milliseconds;
  const auto most = static_cast<uint64_t>(milliseconds::max().count());
  return milliseconds(static_cast<milliseconds::rep>(std::min(ms, most)));
}

Result<std::shared_ptr<Client::Impl>> client_of(const cellblock_options* options) {
  if (options != nullptr && options->mistake) return std::unexpected(*options->mistake);
  return std::make_shared<Client::Impl>(options == nullptr ? Options{} : options->options);
}

Result<AttachOptions> read_options(const cellblock_attach_options* given,
                                   std::chrono::milliseconds& timeout) {
  const auto read = options_from(given, cellblock_attach_options CELLBLOCK_ATTACH_OPTIONS_INIT);
  if (!read) return std::unexpected(bad_argument("attach options of another size"));
  timeout = duration_of(read->timeout_ms);
  return attach_options_of(*read);
}

Result<CallOptions> read_options(const cellblock_call_options* given) {
  const auto read = options_from(given, cellblock_call_options CELLBLOCK_CALL_OPTIONS_INIT);
  if (!read) return std::unexpected(bad_argument("call options of another size"));
  return call_options_of(*read);
}

cellblock_result* new_result(ToolResult result) {
  return new cellblock_result{
      .json = std::move(result.json), .text = std::move(result.text), .is_error = result.is_error};
}

}  // namespace cellblock::client

using namespace cellblock::client;  // NOLINT(google-build-using-namespace): this file is its face

extern "C" {

cellblock_code cellblock_connect(const cellblock_options* options, cellblock_client** client,
                                 cellblock_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr) return std::unexpected(bad_argument("nowhere to put the client"));
    const auto impl = CELLBLOCK_TRY(client_of(options));
    CELLBLOCK_CHECK(Client::Impl::use(impl, [](Client::Impl& on) {
      return on.wait<void>([&](auto done) { on.connection.connect(std::move(done)); });
    }));
    *client = new cellblock_client{std::make_shared<cellblock_client_state>(impl)};
    return {};
  });
}

void cellblock_client_free(cellblock_client* client) {
  // Also where a function waits with it, which has called the callback that frees it.
  if (client != nullptr) client->state->client.close();
  delete client;
}

void cellblock_cancel(cellblock_client* client) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (client == nullptr) return {};
    const auto state = client->state;
    std::optional<std::stop_source> stop;
    {
      const std::lock_guard lock(state->mutex);
      stop = state->stop;
    }
    if (stop) stop->request_stop();
    return {};
  });
}

cellblock_code cellblock_attach(cellblock_client* client, const char* server,
                                const cellblock_attach_options* options, cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    CallOptions how{.stop = stop};
    const auto with = CELLBLOCK_TRY(read_options(options, how.timeout));
    CELLBLOCK_CHECK(on.attach(or_empty(server), with, how));
    return {};
  });
}

cellblock_code cellblock_initialize(cellblock_client* client, uint64_t timeout_ms,
                                    cellblock_result** answer, cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    auto said = CELLBLOCK_TRY(on.initialize({.timeout = duration_of(timeout_ms), .stop = stop}));
    if (answer != nullptr) *answer = new cellblock_result{.json = std::move(said)};
    return {};
  });
}

cellblock_code cellblock_list_tools(cellblock_client* client, uint64_t timeout_ms,
                                    cellblock_tools** tools, cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    if (tools == nullptr) return std::unexpected(bad_argument("nowhere to put the tools"));
    auto list = CELLBLOCK_TRY(on.list_tools({.timeout = duration_of(timeout_ms), .stop = stop}));
    *tools = new cellblock_tools{std::move(list)};
    return {};
  });
}

cellblock_code cellblock_call_tool(cellblock_client* client, const char* tool,
                                   const char* arguments, const cellblock_call_options* options,
                                   cellblock_result** result, cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    if (tool == nullptr || result == nullptr) {
      return std::unexpected(bad_argument("a call has a tool and somewhere to put its result"));
    }
    auto how = CELLBLOCK_TRY(read_options(options));
    how.stop = stop;
    auto said = CELLBLOCK_TRY(on.call_tool(tool, arguments == nullptr ? "{}" : arguments, how));
    *result = new_result(std::move(said));
    return {};
  });
}

cellblock_code cellblock_request(cellblock_client* client, const char* method, const char* params,
                                 const cellblock_call_options* options, cellblock_result** result,
                                 cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    if (method == nullptr || result == nullptr) {
      return std::unexpected(bad_argument("a request has a method and somewhere for its result"));
    }
    auto how = CELLBLOCK_TRY(read_options(options));
    how.stop = stop;
    auto said = CELLBLOCK_TRY(on.request(method, params == nullptr ? "{}" : params, how));
    *result = new cellblock_result{.json = std::move(said)};
    return {};
  });
}

cellblock_code cellblock_notify(cellblock_client* client, const char* method, const char* params,
                                cellblock_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr || method == nullptr) {
      return std::unexpected(bad_argument("a notification has a client and a method"));
    }
    const auto state = client->state;
    return state->client.notify(method, params == nullptr ? "{}" : params);
  });
}

cellblock_code cellblock_serve(cellblock_client* client, uint64_t duration_ms) {
  return guarded(nullptr, [&]() -> Result<void> {
    if (client == nullptr) return std::unexpected(bad_argument("no client"));
    const auto state = client->state;
    return state->client.serve_for(duration_of(duration_ms));
  });
}

cellblock_code cellblock_reconnect(cellblock_client* client, unsigned attempts,
                                   cellblock_error** error) {
  return waiting(client, error, [&](Client& on, const std::stop_token& stop) -> Result<void> {
    ReconnectOptions with;
    if (attempts > 0) with.attempts = attempts;
    CELLBLOCK_CHECK(on.reconnect(with, {.stop = stop}));
    return {};
  });
}

cellblock_code cellblock_bound_result(const cellblock_result* result,
                                      const cellblock_bounds* bounds, cellblock_result** bounded,
                                      cellblock_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (result == nullptr || bounded == nullptr) {
      return std::unexpected(bad_argument("no result, or nowhere to put the other"));
    }
    const auto given = options_from(bounds, cellblock_bounds CELLBLOCK_BOUNDS_INIT);
    if (!given) return std::unexpected(bad_argument("bounds of another size"));
    auto cut = CELLBLOCK_TRY(
        cellblock::client::bounded(result->json, ResultShape::tool_call,
                                   {.max_bytes = given->max_bytes,
                                    .max_item_bytes = given->max_item_bytes,
                                    .max_media_bytes = given->max_media_bytes,
                                    .max_items = given->max_items,
                                    .keep_bytes = static_cast<std::size_t>(given->keep_bytes),
                                    .uri = or_empty(given->uri),
                                    .reader = or_empty(given->reader)}));
    *bounded = new cellblock_result{.json = std::move(cut.json),
                                    .text = std::move(cut.text),
                                    .is_error = cut.is_error,
                                    .is_bounded = cut.is_bounded,
                                    .parts = std::move(cut.withheld)};
    return {};
  });
}

}  // extern "C"
