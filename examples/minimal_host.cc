// The smallest useful host: reach cellblockd, pick a server, list its tools, call one.
//
//   minimal_host SERVER [TOOL [ARGUMENTS]]
#include <cellblock/client.h>

#include <cstdlib>
#include <iostream>

namespace {

int fail(const cellblock::client::Error& error) {
  std::cerr << "minimal_host: " << error.text << '\n';
  if (!error.advice.empty()) std::cerr << error.advice << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: minimal_host SERVER [TOOL [ARGUMENTS]]\n";
    return EXIT_FAILURE;
  }
  auto client = cellblock::client::Client::connect();
  if (!client) return fail(client.error());
  if (auto attached = client->attach(argv[1]); !attached) return fail(attached.error());
  if (auto ready = client->initialize(); !ready) return fail(ready.error());

  const auto tools = client->list_tools();
  if (!tools) return fail(tools.error());
  for (const auto& tool : *tools) std::cout << tool.name << '\n';
  if (argc < 3) return EXIT_SUCCESS;

  const auto result = client->call_tool(argv[2], argc > 3 ? argv[3] : "{}");
  if (!result) return fail(result.error());
  std::cout << result->text << '\n';
  return result->is_error ? EXIT_FAILURE : EXIT_SUCCESS;
}
