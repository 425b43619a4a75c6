#include "cellblock/client.h"

#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "cellblock/session.h"
#include "client/connection/call_clock.h"
#include "client/lib/kept_for_good.h"
#include "client/lib/unusable.h"
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

  class Use;
  template <class Act>
  static std::invoke_result_t<Act, Impl&> use(std::shared_ptr<Impl> impl, Act act);

  bool is_of_other_process() const { return process != ::getpid(); }

  // False: a call runs, of another thread or of the handler that this is called from.
  bool take() {
    std::thread::id nobody;
    return user.compare_exchange_strong(nobody, std::this_thread::get_id());
  }
  void give_back() { user = std::thread::id(); }

  // The session is the calling thread's: this one's where a handler closes, or another's, which
  // does it then.
  void close() {
    if (user == std::this_thread::get_id()) return session.close();
    close_wanted = true;
    close_if_wanted();
    if (!close_wanted) return;
    boost::asio::post(context, [this] {
      if (close_wanted.exchange(false)) session.close();
    });
    close_if_wanted();
  }

  void close_if_wanted() {
    while (close_wanted && take()) {
      if (close_wanted.exchange(false)) session.close();
      give_back();
    }
  }

  static void release(std::shared_ptr<Impl> impl) {
    if (!impl->is_of_other_process()) return impl->close();
    {
      const Session closed = std::move(impl->session);
    }
    keep_for_good(std::move(impl));
  }

  boost::asio::io_context context{1};
  Session session;
  std::atomic<std::thread::id> user;  ///< whose call runs
  std::atomic<bool> close_wanted = false;
  const pid_t process = ::getpid();
};

namespace {

Error in_use() {
  return {.code = ErrorCode::in_use,
          .text = "the client is in another call already; a handler must not call into its own"};
}

}  // namespace

// For the length of a function nothing else is done with the client.
class Client::Impl::Use {
 public:
  explicit Use(Impl& impl) : impl_(impl) {}
  ~Use() {
    impl_.give_back();
    impl_.close_if_wanted();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Impl& impl_;
};

// A copy of the pointer: a handler may destroy the client that it is called from.
template <class Act>
std::invoke_result_t<Act, Client::Impl&> Client::Impl::use(std::shared_ptr<Impl> impl, Act act) {
  if (!impl) return std::unexpected(moved_from());
  if (impl->is_of_other_process()) return std::unexpected(of_other_process());
  if (!impl->take()) return std::unexpected(in_use());
  const Use now(*impl);
  return act(*impl);
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() {
  if (impl_) Impl::release(std::move(impl_));
}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&& other) noexcept {
  Client old(std::move(other));
  std::swap(impl_, old.impl_);
  return *this;
}

Result<Client> Client::connect(Options options) {
  const auto impl = std::make_shared<Impl>(std::move(options));
  CELLBLOCK_CHECK(Impl::use(impl, [](Impl& on) {
    return on.wait<void>([&](auto done) { on.session.connect(std::move(done)); });
  }));
  return Client(impl);
}

Result<Attached> Client::attach(std::string_view server, const CallOptions& options) {
  return attach(server, AttachOptions{}, options);
}

Result<Attached> Client::attach(std::string_view server, const AttachOptions& with,
                                const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<Attached>(options.stop, [&](auto done) {
      on.session.attach(server, with, options.timeout, std::move(done));
    });
  });
}

Result<std::string> Client::initialize(const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<std::string>(
        options.stop, [&](auto done) { on.session.initialize(options.timeout, std::move(done)); });
  });
}

Result<std::vector<Tool>> Client::list_tools(const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<std::vector<Tool>>(
        options.stop, [&](auto done) { on.session.list_tools(options.timeout, std::move(done)); });
  });
}

Result<ToolResult> Client::call_tool(std::string_view tool, std::string_view arguments,
                                     const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<ToolResult>(
        [&](auto done) { on.session.call_tool(tool, arguments, options, std::move(done)); });
  });
}

Result<std::string> Client::request(std::string_view method, std::string_view params,
                                    const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<std::string>(
        [&](auto done) { on.session.request(method, params, options, std::move(done)); });
  });
}

Result<void> Client::notify(std::string_view method, std::string_view params) {
  return Impl::use(impl_, [&](Impl& on) { return on.session.notify(method, params); });
}

Result<Attached> Client::reconnect(const ReconnectOptions& with, const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<Attached>(options.stop,
                             [&](auto done) { on.session.reconnect(with, std::move(done)); });
  });
}

Result<void> Client::serve_for(std::chrono::milliseconds duration) {
  return Impl::use(impl_, [&](Impl& on) -> Result<void> {
    on.context.restart();
    on.context.run_until(CallClock::after(std::chrono::steady_clock::now(), duration));
    return {};
  });
}

void Client::close() {
  const auto impl = impl_;
  if (impl && !impl->is_of_other_process()) impl->close();
}

}  // namespace cellblock::client
