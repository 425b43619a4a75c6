#include "cellblock/connection.h"
#include "client/connection/request_params.h"
#include "client/lib/connection_core.h"
#include "client/lib/listing.h"
#include "client/lib/usable.h"
#include "policy/mcp/methods.h"

/// MCP's requests by name: each is a request() whose parameters are composed here.
namespace cellblock::client {
namespace {

using Shared = std::shared_ptr<Connection::Impl>;

// Of what is answered with an empty object.
Completion<std::string> without_value(Completion<void> done) {
  return [done = std::move(done)](const Result<std::string>& answer) mutable {
    done(answer ? Result<void>() : std::unexpected(answer.error()));
  };
}

CallId request_with(const Shared& connection, std::string_view method,
                    const Result<std::string>& params, const CallOptions& options,
                    Completion<std::string> done) {
  const auto impl = usable(connection, done);
  if (!impl) return CallId::none;
  if (params) return impl->request(method, *params, options, std::move(done));
  impl->post<std::string>(std::move(done), std::unexpected(params.error()));
  return CallId::none;
}

template <class Item>
void begin_list(const Shared& connection, const CallOptions& options,
                Completion<std::vector<Item>> done) {
  if (const auto impl = usable(connection, done)) list_all(impl, options, std::move(done));
}

}  // namespace

void Connection::list_tools(std::chrono::milliseconds deadline,
                            Completion<std::vector<Tool>> done) {
  begin_list(impl_, {.timeout = deadline}, std::move(done));
}

void Connection::list_tools(const CallOptions& options, Completion<std::vector<Tool>> done) {
  begin_list(impl_, options, std::move(done));
}

void Connection::list_resources(const CallOptions& options,
                                Completion<std::vector<Resource>> done) {
  begin_list(impl_, options, std::move(done));
}

void Connection::list_resource_templates(const CallOptions& options,
                                         Completion<std::vector<ResourceTemplate>> done) {
  begin_list(impl_, options, std::move(done));
}

void Connection::list_prompts(const CallOptions& options, Completion<std::vector<Prompt>> done) {
  begin_list(impl_, options, std::move(done));
}

CallId Connection::read_resource(std::string_view uri, const CallOptions& options,
                                 Completion<std::string> done) {
  return request_with(impl_, mcp::method::resources_read, resource_params(uri), options,
                      std::move(done));
}

CallId Connection::subscribe(std::string_view uri, const CallOptions& options,
                             Completion<void> done) {
  return request_with(impl_, mcp::method::resources_subscribe, resource_params(uri), options,
                      without_value(std::move(done)));
}

CallId Connection::unsubscribe(std::string_view uri, const CallOptions& options,
                               Completion<void> done) {
  return request_with(impl_, mcp::method::resources_unsubscribe, resource_params(uri), options,
                      without_value(std::move(done)));
}

CallId Connection::get_prompt(std::string_view prompt, std::string_view arguments,
                              const CallOptions& options, Completion<std::string> done) {
  return request_with(impl_, mcp::method::prompts_get, prompt_params(prompt, arguments), options,
                      std::move(done));
}

CallId Connection::complete(const ArgumentToComplete& what, const CallOptions& options,
                            Completion<std::string> done) {
  return request_with(impl_, mcp::method::complete, completion_params(what), options,
                      std::move(done));
}

CallId Connection::set_log_level(LogLevel level, const CallOptions& options,
                                 Completion<void> done) {
  return request_with(impl_, mcp::method::set_level, log_level_params(name_of(level)), options,
                      without_value(std::move(done)));
}

CallId Connection::ping(const CallOptions& options, Completion<void> done) {
  return request_with(impl_, mcp::method::ping, "{}", options, without_value(std::move(done)));
}

}  // namespace cellblock::client
