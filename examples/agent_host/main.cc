// A host with an agent: a model's tool calls through cellblock, with the host's own permission, a
// person's approval, deadlines, and results that fit into the model's context.
//
//   agent_host SCRIPT [--allow PATTERN] [--ask PATTERN] [--deny PATTERN] [--timeout MS]
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include "agent.h"

namespace {

namespace client = cellblock::client;

struct Settings {
  std::string script;
  client::PermissionRules permission{.rules = {}, .otherwise = client::Verdict::ask};
  std::chrono::milliseconds timeout{60'000};
};

bool take(Settings& settings, std::string_view flag, std::string_view value) {
  const auto rule = [&](client::Verdict verdict) {
    settings.permission.rules.push_back({.name = std::string(value), .verdict = verdict});
    return true;
  };
  if (flag == "--allow") return rule(client::Verdict::allow);
  if (flag == "--ask") return rule(client::Verdict::ask);
  if (flag == "--deny") return rule(client::Verdict::deny);
  long long number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (flag != "--timeout" || fault != std::errc() || end != value.data() + value.size()) {
    return false;
  }
  settings.timeout = std::chrono::milliseconds(number);
  return true;
}

std::optional<Settings> read_settings(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) return std::nullopt;
  Settings settings{.script = argv[1]};
  for (int i = 2; i < argc; i += 2) {
    if (!take(settings, argv[i], argv[i + 1])) return std::nullopt;
  }
  return settings;
}

// What a window would ask. Nobody there is a no.
client::Decision ask_at_terminal(const client::CallToApprove& call) {
  std::cout << "May " << agent_host::plain(call.name) << " be called with "
            << agent_host::plain(call.arguments) << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  std::cout << '\n';
  return answer == "y" ? client::Decision::allow() : client::Decision::deny("the user said no");
}

client::Result<client::Client> open(const Settings& settings) {
  client::Options options;
  options.client_name = "agent_host";
  options.permission = settings.permission;
  options.on_approval = client::answered_at_once(ask_at_terminal);
  options.notices.on_log = [](const client::LogMessage& message) {
    std::cerr << "log:   " << agent_host::plain(message.data) << '\n';
  };
  auto connected = client::Client::connect(std::move(options));
  if (!connected) return connected;
  // No name: all servers that this user may use, as one. Tools are SERVER__NAME.
  if (auto attached = connected->attach(""); !attached) return std::unexpected(attached.error());
  if (auto ready = connected->initialize(); !ready) return std::unexpected(ready.error());
  return connected;
}

int fail(std::string_view why) {
  std::cerr << "agent_host: " << agent_host::plain(why) << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const auto settings = read_settings(argc, argv);
  if (!settings) {
    return fail("usage: agent_host SCRIPT [--allow|--ask|--deny PATTERN]... [--timeout MS]");
  }
  auto model = agent_host::ScriptedModel::load(settings->script);
  if (!model) return fail(model.error());
  auto connected = open(*settings);
  if (!connected) return fail(connected.error().text);
  agent_host::Agent agent(*std::move(connected), *std::move(model), settings->timeout);
  const auto answer = agent.run();
  if (!answer) return fail(answer.error());
  std::cout << "answer: " << agent_host::plain(*answer) << '\n';
  return EXIT_SUCCESS;
}
