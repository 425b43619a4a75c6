#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "cellblock/cellblock_async.h"
#include "client/c/handles.h"
#include "client/connection/handler_failure.h"
#include "policy/base/result.h"

/// The asynchronous half of the C interface: the host waits, and is told by completions.

namespace cellblock::client {
namespace {

using State = std::shared_ptr<cellblock_client_state>;

// No memory is no result and no error, and a completion all the same.
template <class Make>
auto made(Make make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

cellblock_error* new_error(const Error& error) {
  return made([&] { return new cellblock_error{code_of(error.code), error}; });
}

template <class T>
cellblock_code code_for(const Result<T>& result) {
  return result ? CELLBLOCK_OK : code_of(result.error().code);
}

// What a completion throws is an error of the function that processes, and of nothing else.
template <class Call>
void call_back(const std::weak_ptr<cellblock_client_state>& weak, Call call) {
  auto failure = failure_of("a completion", std::move(call));
  const auto state = failure ? weak.lock() : nullptr;
  if (state && !state->failure) state->failure = std::move(failure);
}

template <class T>
Completion<T> completion(const State& state, cellblock_done_fn done, void* user) {
  return [weak = std::weak_ptr(state), done, user](const Result<T>& result) {
    auto* const error = result ? nullptr : new_error(result.error());
    call_back(weak, [&] { done(user, code_for(result), error); });
  };
}

// `make` makes the handle of a value.
template <class T, class Done, class Make>
Completion<T> completion(const State& state, Done done, void* user, Make make) {
  return [weak = std::weak_ptr(state), done, user, make](Result<T> result) {
    auto* const error = result ? nullptr : new_error(result.error());
    const auto value = result ? made([&] { return make(*std::move(result)); }) : nullptr;
    const auto code = result && value == nullptr ? CELLBLOCK_NO_MEMORY : code_for(result);
    call_back(weak, [&] { done(user, code, value, error); });
  };
}

cellblock_result* result_of_text(std::string json) {
  return new cellblock_result{.json = std::move(json)};
}

// `act` is given the connection, and starts something.
template <class Done, class Act>
cellblock_code starting(cellblock_client* client, Done done, cellblock_error** error,
                        Act act) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr || done == nullptr) {
      return std::unexpected(bad_argument("no client, or no completion"));
    }
    const auto state = client->state;
    return Client::Impl::start(
        state->impl, [&](Client::Impl& on) -> Result<void> { return act(on.connection, state); });
  });
}

void give_id(std::uint64_t* where, CallId call) {
  if (where != nullptr) *where = static_cast<std::uint64_t>(call);
}

}  // namespace
}  // namespace cellblock::client

using namespace cellblock::client;  // NOLINT(google-build-using-namespace): this file is its face

extern "C" {

int cellblock_fd(const cellblock_client* client) {
  return client == nullptr ? -1 : client->state->impl->connection.descriptor();
}

short cellblock_events(const cellblock_client* client) {
  return client == nullptr ? short{0} : client->state->impl->connection.events();
}

int cellblock_timeout(const cellblock_client* client) {
  if (client == nullptr) return -1;
  const auto wait = client->state->impl->connection.timeout();
  if (wait == no_deadline) return -1;
  using Count = std::chrono::milliseconds::rep;
  return static_cast<int>(std::min<Count>(wait.count(), std::numeric_limits<int>::max()));
}

cellblock_code cellblock_process(cellblock_client* client, cellblock_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr) return std::unexpected(bad_argument("no client"));
    const auto state = client->state;
    CELLBLOCK_CHECK(
        Client::Impl::use(state->impl, [](Client::Impl& on) { return on.connection.process(); }));
    if (auto failure = std::exchange(state->failure, std::nullopt)) {
      return std::unexpected(*std::move(failure));
    }
    return {};
  });
}

void cellblock_wake(cellblock_client* client) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (client != nullptr) client->state->impl->connection.post([] {});
    return {};
  });
}

cellblock_code cellblock_connect_async(const cellblock_options* options, cellblock_done_fn done,
                                       void* user, cellblock_client** client,
                                       cellblock_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (client == nullptr || done == nullptr) {
      return std::unexpected(bad_argument("nowhere to put the client, or no completion"));
    }
    auto made = std::make_unique<cellblock_client>(
        std::make_shared<cellblock_client_state>(CELLBLOCK_TRY(client_of(options))));
    made->state->impl->connection.connect(completion<void>(made->state, done, user));
    *client = made.release();
    return {};
  });
}

cellblock_code cellblock_attach_async(cellblock_client* client, const char* server,
                                      const cellblock_attach_options* options,
                                      cellblock_done_fn done, void* user, cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    std::chrono::milliseconds timeout{};
    const auto with = CELLBLOCK_TRY(read_options(options, timeout));
    on.attach(or_empty(server), with, timeout, completion<Attached>(state, done, user));
    return {};
  });
}

cellblock_code cellblock_initialize_async(cellblock_client* client, uint64_t timeout_ms,
                                          cellblock_result_fn done, void* user,
                                          cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    on.initialize(duration_of(timeout_ms),
                  completion<std::string>(state, done, user, result_of_text));
    return {};
  });
}

cellblock_code cellblock_list_tools_async(cellblock_client* client, uint64_t timeout_ms,
                                          cellblock_tools_fn done, void* user,
                                          cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    on.list_tools(duration_of(timeout_ms),
                  completion<std::vector<Tool>>(state, done, user, [](std::vector<Tool> tools) {
                    return new cellblock_tools{std::move(tools)};
                  }));
    return {};
  });
}

cellblock_code cellblock_call_tool_async(cellblock_client* client, const char* tool,
                                         const char* arguments,
                                         const cellblock_call_options* options,
                                         cellblock_result_fn done, void* user, uint64_t* call,
                                         cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    if (tool == nullptr) return std::unexpected(bad_argument("a call has a tool"));
    const auto how = CELLBLOCK_TRY(read_options(options));
    give_id(call, on.call_tool(tool, arguments == nullptr ? "{}" : arguments, how,
                               completion<ToolResult>(state, done, user, new_result)));
    return {};
  });
}

cellblock_code cellblock_request_async(cellblock_client* client, const char* method,
                                       const char* params, const cellblock_call_options* options,
                                       cellblock_result_fn done, void* user, uint64_t* call,
                                       cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    if (method == nullptr) return std::unexpected(bad_argument("a request has a method"));
    const auto how = CELLBLOCK_TRY(read_options(options));
    give_id(call, on.request(method, params == nullptr ? "{}" : params, how,
                             completion<std::string>(state, done, user, result_of_text)));
    return {};
  });
}

cellblock_code cellblock_reconnect_async(cellblock_client* client, unsigned attempts,
                                         cellblock_done_fn done, void* user,
                                         cellblock_error** error) {
  return starting(client, done, error, [&](Connection& on, const State& state) -> Result<void> {
    ReconnectOptions with;
    if (attempts > 0) with.attempts = attempts;
    on.reconnect(with, completion<Attached>(state, done, user));
    return {};
  });
}

void cellblock_cancel_call(cellblock_client* client, uint64_t call) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (client == nullptr || call == 0) return {};
    const std::weak_ptr<Client::Impl> weak = client->state->impl;
    client->state->impl->connection.post([weak, call] {
      if (const auto impl = weak.lock()) impl->connection.cancel(CallId{call});
    });
    return {};
  });
}

}  // extern "C"
