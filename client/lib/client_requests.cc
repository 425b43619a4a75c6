#include "cellblock/client.h"
#include "client/lib/client_core.h"

/// MCP's requests by name: each starts its like of the connection, and waits.
namespace cellblock::client {
namespace {

using SharedClient = std::shared_ptr<Client::Impl>;

template <class T, class Start>
Result<T> waited_for(const SharedClient& client, Start start) {
  return Client::Impl::use(client, [&](Client::Impl& on) {
    return on.wait<T>([&](auto done) { start(on.connection, std::move(done)); });
  });
}

}  // namespace

Result<std::vector<Tool>> Client::list_tools(const CallOptions& options) {
  return waited_for<std::vector<Tool>>(
      impl_, [&](Connection& on, auto done) { on.list_tools(options, std::move(done)); });
}

Result<std::vector<Resource>> Client::list_resources(const CallOptions& options) {
  return waited_for<std::vector<Resource>>(
      impl_, [&](Connection& on, auto done) { on.list_resources(options, std::move(done)); });
}

Result<std::vector<ResourceTemplate>> Client::list_resource_templates(const CallOptions& options) {
  return waited_for<std::vector<ResourceTemplate>>(impl_, [&](Connection& on, auto done) {
    on.list_resource_templates(options, std::move(done));
  });
}

Result<std::vector<Prompt>> Client::list_prompts(const CallOptions& options) {
  return waited_for<std::vector<Prompt>>(
      impl_, [&](Connection& on, auto done) { on.list_prompts(options, std::move(done)); });
}

Result<std::string> Client::read_resource(std::string_view uri, const CallOptions& options) {
  return waited_for<std::string>(
      impl_, [&](Connection& on, auto done) { on.read_resource(uri, options, std::move(done)); });
}

Result<void> Client::subscribe(std::string_view uri, const CallOptions& options) {
  return waited_for<void>(
      impl_, [&](Connection& on, auto done) { on.subscribe(uri, options, std::move(done)); });
}

Result<void> Client::unsubscribe(std::string_view uri, const CallOptions& options) {
  return waited_for<void>(
      impl_, [&](Connection& on, auto done) { on.unsubscribe(uri, options, std::move(done)); });
}

Result<std::string> Client::get_prompt(std::string_view prompt, std::string_view arguments,
                                       const CallOptions& options) {
  return waited_for<std::string>(impl_, [&](Connection& on, auto done) {
    on.get_prompt(prompt, arguments, options, std::move(done));
  });
}

Result<std::string> Client::complete(const ArgumentToComplete& what, const CallOptions& options) {
  return waited_for<std::string>(
      impl_, [&](Connection& on, auto done) { on.complete(what, options, std::move(done)); });
}

Result<void> Client::set_log_level(LogLevel level, const CallOptions& options) {
  return waited_for<void>(
      impl_, [&](Connection& on, auto done) { on.set_log_level(level, options, std::move(done)); });
}

Result<void> Client::ping(const CallOptions& options) {
  return waited_for<void>(impl_,
                          [&](Connection& on, auto done) { on.ping(options, std::move(done)); });
}

}  // namespace cellblock::client
