// A host in coroutines on Asio: calls a tool, and Ctrl-C ends the call and tells the server.
//
//   coroutine_host SERVER TOOL [ARGUMENTS]
#include <cellblock/session.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

namespace asio = boost::asio;
namespace client = cellblock::client;
using asio::use_awaitable;

struct Words {
  std::string server;
  std::string tool;
  std::string arguments = "{}";
};

asio::awaitable<client::Result<client::ToolResult>> call(client::Session& session, Words words) {
  const auto connected = co_await session.connect(use_awaitable);
  if (!connected) co_return client::Unexpected(connected.error());
  const auto attached = co_await session.attach(words.server, use_awaitable);
  if (!attached) co_return client::Unexpected(attached.error());
  const auto ready = co_await session.initialize(use_awaitable);
  if (!ready) co_return client::Unexpected(ready.error());
  co_return co_await session.call_tool(words.tool, words.arguments, use_awaitable);
}

int report(const client::Result<client::ToolResult>& result) {
  if (!result) {
    std::cerr << "coroutine_host: " << result.error().text << '\n' << result.error().advice;
    return EXIT_FAILURE;
  }
  std::cout << result->text << '\n';  // untrusted: escape it where it is shown for long
  return result->is_error ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Whichever comes first ends the other one.
asio::awaitable<int> run(asio::io_context& context, Words words) {
  using namespace asio::experimental::awaitable_operators;
  client::Session session(context.get_executor(), {.client_name = "coroutine_host"});
  asio::signal_set interrupted(context, SIGINT);
  const auto first = co_await (call(session, words) || interrupted.async_wait(use_awaitable));
  if (first.index() == 0) co_return report(std::get<0>(first));
  std::cerr << "coroutine_host: interrupted\n";
  co_return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: coroutine_host SERVER TOOL [ARGUMENTS]\n";
    return EXIT_FAILURE;
  }
  Words words{.server = argv[1], .tool = argv[2]};
  if (argc > 3) words.arguments = argv[3];
  asio::io_context context;
  int exit_code = EXIT_FAILURE;
  asio::co_spawn(context, run(context, words), [&](const std::exception_ptr& failure, int code) {
    if (failure) std::rethrow_exception(failure);
    exit_code = code;
  });
  context.run();
  return exit_code;
}
