#include "cellblock/client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "cellblock/session.h"
#include "client/connection/call_clock.h"
#include "policy/base/result.h"

namespace cellblock::client {

struct Client::Impl {
  explicit Impl(Options options) : session(context.get_executor(), std::move(options)) {}

  // Starts an operation and runs the context until it has completed.
  template <class T, class Start>
  Result<T> wait(Start start) {
    std::optional<Result<T>> result;
    start([&result](Result<T> outcome) { result = std::move(outcome); });
    while (!result) {
      context.restart();
      context.run_one();
    }
    return *std::move(result);
  }

  // The same for an operation that the token ends early.
  template <class T, class Start>
  Result<T> wait(const std::stop_token& stop, Start start) {
    // What the token's thread posts may run only after this operation is over.
    const auto waiting = std::make_shared<bool>(true);
    const std::stop_callback on_stop(stop, [this, waiting] {
      boost::asio::post(context, [this, waiting] {
        if (*waiting) session.cancel_all();
      });
    });
    auto result = wait<T>(std::move(start));
    *waiting = false;
    return result;
  }

  boost::asio::io_context context{1};
  Session session;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Client> Client::connect(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  CELLBLOCK_CHECK(impl->wait<void>([&](auto done) { impl->session.connect(std::move(done)); }));
  return Client(std::move(impl));
}

Result<Attached> Client::attach(std::string_view server, const CallOptions& options) {
  return attach(server, AttachOptions{}, options);
}

Result<Attached> Client::attach(std::string_view server, const AttachOptions& with,
                                const CallOptions& options) {
  return impl_->wait<Attached>(options.stop, [&](auto done) {
    impl_->session.attach(server, with, options.timeout, std::move(done));
  });
}

Result<std::string> Client::initialize(const CallOptions& options) {
  return impl_->wait<std::string>(options.stop, [&](auto done) {
    impl_->session.initialize(options.timeout, std::move(done));
  });
}

Result<std::vector<Tool>> Client::list_tools(const CallOptions& options) {
  return impl_->wait<std::vector<Tool>>(options.stop, [&](auto done) {
    impl_->session.list_tools(options.timeout, std::move(done));
  });
}

Result<ToolResult> Client::call_tool(std::string_view tool, std::string_view arguments,
                                     const CallOptions& options) {
  return impl_->wait<ToolResult>(
      [&](auto done) { impl_->session.call_tool(tool, arguments, options, std::move(done)); });
}

Result<std::string> Client::request(std::string_view method, std::string_view params,
                                    const CallOptions& options) {
  return impl_->wait<std::string>(
      [&](auto done) { impl_->session.request(method, params, options, std::move(done)); });
}

Result<void> Client::notify(std::string_view method, std::string_view params) {
  return impl_->session.notify(method, params);
}

Result<Attached> Client::reconnect(const ReconnectOptions& with, const CallOptions& options) {
  return impl_->wait<Attached>(options.stop,
                               [&](auto done) { impl_->session.reconnect(with, std::move(done)); });
}

void Client::serve_for(std::chrono::milliseconds duration) {
  impl_->context.restart();
  impl_->context.run_until(CallClock::after(std::chrono::steady_clock::now(), duration));
}

void Client::close() { impl_->session.close(); }

}  // namespace cellblock::client
