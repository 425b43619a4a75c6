#include "cellblock/client.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "client/connection/call_clock.h"
#include "client/lib/client_core.h"
#include "client/lib/kept_for_good.h"
#include "client/lib/usable.h"
#include "policy/base/result.h"

namespace cellblock::client {

namespace {

using PollClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// poll() counts in an int; whoever has to wait longer does it twice.
int poll_timeout(milliseconds wait) {
  if (wait == no_deadline) return -1;
  return static_cast<int>(
      std::min<milliseconds::rep>(wait.count(), std::numeric_limits<int>::max()));
}

milliseconds until(Connection::TimePoint end) {
  if (end == Connection::TimePoint::max()) return no_deadline;
  return std::max(std::chrono::ceil<milliseconds>(end - PollClock::now()), milliseconds(0));
}

}  // namespace

void Client::Impl::wait_once(TimePoint end) {
  pollfd waited{.fd = connection.descriptor(), .events = connection.events(), .revents = 0};
  (void)::poll(&waited, 1, poll_timeout(std::min(connection.timeout(), until(end))));
  (void)connection.process();
}

std::optional<Error> Client::Impl::why_unusable(const std::shared_ptr<Impl>& impl) {
  if (!impl) return moved_from();
  if (impl->connection.is_of_other_process()) return of_other_process();
  return std::nullopt;
}

Error Client::Impl::in_use() {
  return {.code = ErrorCode::in_use,
          .text = "the client is in another call already; a handler must not call into its own"};
}

// False: a call runs, of another thread or of the handler that this is called from.
bool Client::Impl::take() {
  std::thread::id nobody;
  return user_.compare_exchange_strong(nobody, std::this_thread::get_id());
}

void Client::Impl::give_back() { user_ = std::thread::id(); }

// The connection is the calling thread's: this one's where a handler closes, or another's, which
// does it then.
void Client::Impl::close() {
  if (is_mine()) return connection.close();
  close_wanted_ = true;
  close_if_wanted();
  if (!close_wanted_) return;
  connection.post([this] {
    if (close_wanted_.exchange(false)) connection.close();
  });
  close_if_wanted();
}

void Client::Impl::close_if_wanted() {
  while (close_wanted_ && take()) {
    if (close_wanted_.exchange(false)) connection.close();
    give_back();
  }
}

void Client::Impl::release(std::shared_ptr<Impl> impl) {
  if (!impl->connection.is_of_other_process()) return impl->close();
  {
    const Connection closed = std::move(impl->connection);
  }
  keep_for_good(std::move(impl));
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
    return on.wait<void>([&](auto done) { on.connection.connect(std::move(done)); });
  }));
  return Client(impl);
}

Result<Attached> Client::attach(std::string_view server, const CallOptions& options) {
  return attach(server, AttachOptions{}, options);
}

Result<Attached> Client::attach(std::string_view server, const AttachOptions& with,
                                const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<Attached>(
        [&](auto done) { on.connection.attach(server, with, options, std::move(done)); });
  });
}

Result<std::string> Client::initialize(const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<std::string>(
        [&](auto done) { on.connection.initialize(options, std::move(done)); });
  });
}

Result<ToolResult> Client::call_tool(std::string_view tool, std::string_view arguments,
                                     const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<ToolResult>(
        [&](auto done) { on.connection.call_tool(tool, arguments, options, std::move(done)); });
  });
}

Result<std::string> Client::request(std::string_view method, std::string_view params,
                                    const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<std::string>(
        [&](auto done) { on.connection.request(method, params, options, std::move(done)); });
  });
}

Result<void> Client::notify(std::string_view method, std::string_view params) {
  return Impl::use(impl_, [&](Impl& on) { return on.connection.notify(method, params); });
}

Result<Attached> Client::reconnect(const ReconnectOptions& with, const CallOptions& options) {
  return Impl::use(impl_, [&](Impl& on) {
    return on.wait<Attached>(options.stop,
                             [&](auto done) { on.connection.reconnect(with, std::move(done)); });
  });
}

Result<void> Client::serve_for(std::chrono::milliseconds duration) {
  return Impl::use(impl_, [&](Impl& on) -> Result<void> {
    // A host that serves in a loop would spin.
    if (!on.connection.is_active()) {
      return Unexpected(
          Error{.code = ErrorCode::disconnected, .text = "the connection has ended before"});
    }
    const auto end = CallClock::after(PollClock::now(), duration);
    do {
      on.wait_once(end);
    } while (on.connection.is_active() && PollClock::now() < end);
    return {};
  });
}

void Client::close() {
  const auto impl = impl_;
  if (impl && !impl->connection.is_of_other_process()) impl->close();
}

}  // namespace cellblock::client
