#include "client/cli/add/remote_authorization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/add/authorization.h"
#include "client/cli/add/browser_return.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/package_install.h"
#include "client/cli/learn/watched_server.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Ordered = nlohmann::ordered_json;

constexpr const char* script_file = "remote_authorization.mjs";
constexpr auto longest_step = 2min;
constexpr std::size_t most_files = 16;

// ---- its cell ----

struct FlowPlaces {
  std::string script;  ///< the directory with our script
  std::string output;  ///< the directory in which mcp-remote keeps what it gets
};

Result<FlowPlaces> flow_places(const Work& work) {
  constexpr unsigned for_all = 0777;
  constexpr unsigned readable = 0755;
  constexpr unsigned own = 0700;
  const bool is_users = work.places.mode == Mode::user;
  FlowPlaces places{.script = CELLBLOCK_TRY(work.scratch.directory("authorizing", readable))};
  places.output = CELLBLOCK_TRY(work.scratch.directory("authorized", is_users ? own : for_all));
  CELLBLOCK_CHECK(
      write_new_file(places.script + "/" + script_file, std::string(remote_authorization_script)));
  return places;
}

// Its tools are the script's: pinned, they would be taken for the server's own.
std::string without_pins(std::string table, const std::string& server) {
  const auto header = fmt::format("[server.{}]\n", server);
  return table.insert(table.find(header) + header.size(), "pin = \"off\"\n");
}

// The same cell, but for the script in front of mcp-remote and for what is kept.
std::string flow_table(Proposal proposal, const FlowPlaces& places) {
  proposal.command.at(1) = std::string("/installer/") + script_file;
  proposal.read.push_back({.path = places.script, .note = "", .target = "/installer"});
  proposal = with_authorization_in(places.output, std::move(proposal));
  proposal.tools = {"*"};
  return without_pins(server_toml(proposal), proposal.name) + rule_for_trial(proposal.name) +
         fmt::format("\n[server.{}.calls]\ndeadline = \"5m\"\n", proposal.name);
}

// ---- its steps ----

// Behind the interpreter, our script and mcp-remote's.
std::string address_of(const Proposal& proposal) { return proposal.command.at(3); }

std::string quoted(const std::string& output) {
  std::string text;
  for (std::size_t at = 0; at < output.size();) {
    const auto end = std::min(output.find('\n', at), output.size());
    text += "\n  | " + safe_line(output.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

Result<std::string> call_step(client::Client& client, const std::string& tool,
                              const Ordered& arguments, const std::stop_token& stop) {
  const auto result =
      client.call_tool(tool, arguments.dump(), {.timeout = longest_step, .stop = stop});
  if (!result) return fail(safe_text(result.error().text));
  if (!result->is_error) return result->text;
  return fail("it could not be authorized:" + quoted(result->text));
}

// A page of this machine could be anything that listens here: only of a server that is here as
// well.
Result<AuthorizationPage> page_in(const std::string& answer, const std::string& server) {
  const auto json = CELLBLOCK_TRY(json_of_json(answer));
  const auto url = CELLBLOCK_TRY(text_member(json, "url"));
  if (url.empty()) return fail("the server asks for no authorization");
  if (url.starts_with("http://") && !server.starts_with("http://")) {
    return fail("the server sends people to a page that is not encrypted");
  }
  const bool has_port = json.contains("port") && json["port"].is_number_unsigned();
  const auto port = has_port ? json["port"].get<std::uint64_t>() : 0;
  ReturnPlace back{.port = port > UINT16_MAX ? std::uint16_t{0} : static_cast<std::uint16_t>(port),
                   .path = CELLBLOCK_TRY(text_member(json, "path"))};
  return authorization_page(url, back);
}

// With --json too: without it there is nothing to do.
void show_page(const AuthorizationPage& page) {
  fmt::print(
      stderr,
      "cellblock: open this address in a browser, and allow there what you mean to allow:\n\n"
      "{}\n\ncellblock: waiting for the browser to come back to http://localhost:{}{}",
      safe_line(page.url), page.back.port, safe_line(page.back.path));
  fmt::print(stderr, "{}\n",
             ::isatty(STDIN_FILENO) == 1
                 ? "; if it\nis on another machine, paste here the address that it shows then:"
                 : "");
}

Result<void> run_steps(const PrivateDaemon& daemon, const Proposal& proposal,
                       const Interruption& interruption) {
  auto client = open_server(daemon.context(), proposal.name, {}, longest_step);
  if (!client) return fail(safe_text(client.error().text));
  const auto stop = interruption.token();
  const auto begun = CELLBLOCK_TRY(call_step(*client, "begin", Ordered::object(), stop));
  const auto page = CELLBLOCK_TRY(page_in(begun, address_of(proposal)));
  const auto listener = CELLBLOCK_TRY(listen_for_browser(page.back.port));
  show_page(page);
  const auto answer = CELLBLOCK_TRY(browser_return(listener, page.back, interruption));
  CELLBLOCK_CHECK(call_step(*client, "finish", Ordered{{"callback", answer}}, stop));
  return {};
}

// What its cell was refused says which name the authorization server has.
Result<void> run_flow(const Work& work, const Proposal& proposal, const FlowPlaces& places,
                      const Interruption& interruption) {
  auto text = CELLBLOCK_TRY(private_daemon_toml(work.places, work.scratch.root()));
  text += "\n" + flow_table(proposal, places);
  const auto daemon =
      CELLBLOCK_TRY(PrivateDaemon::start(work.context, work.scratch, text, work.stop));
  auto watched = WatchedServer::open(daemon.context(), proposal.name);
  auto done = run_steps(daemon, proposal, interruption);
  if (done || !watched) return done;
  const Trial refused{.refused = refusals_of(*watched).value_or(std::vector<RefusedOperation>{})};
  return fail(done.error().text + "\n" + refused_lines(refused));
}

// ---- what came out ----

// Its cell has ended; the copy is ours.
Result<NamedTexts> files_in(const Work& work, const std::string& output) {
  const auto copy = work.scratch.path("authorization");
  CELLBLOCK_CHECK(copy_tree(output + "/tree", copy));
  NamedTexts files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(copy, error)) {
    const auto name = entry.path().lexically_relative(copy).string();
    const bool is_file = fs::is_regular_file(entry.symlink_status());
    if (!is_file || !is_of_authorization(name) || files.size() >= most_files) continue;
    files.emplace_back(name, CELLBLOCK_TRY(bounded_file(entry.path().string(), max_import_text)));
  }
  if (error) return fail(error.message());
  return files;
}

Result<std::string> random_text() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail("the kernel gives no random bytes");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// ---- a declaration ----

ProposedPath path_in(const std::string& entry) {
  const auto colon = entry.find(':');
  ProposedPath path{.path = entry.substr(0, colon), .note = ""};
  if (colon != std::string::npos) path.target = entry.substr(colon + 1);
  return path;
}

Result<std::vector<ProposedPath>> paths_in(const Ordered& table, const char* key) {
  std::vector<ProposedPath> paths;
  for (const auto& entry : CELLBLOCK_TRY(texts_member(table, key))) paths.push_back(path_in(entry));
  return paths;
}

bool starts_remote(const Proposal& proposal) {
  return proposal.command.size() > 3 &&
         proposal.command[1].ends_with(std::string("/") + remote_start_file);
}

}  // namespace

bool needs_authorization(const Trial& trial) {
  return trial.failure &&
         trial.failure->text.find("it needs the authorization of its user") != std::string::npos;
}

Result<Proposal> declared_remote(const std::string& text, const std::string& server) {
  const auto whole = CELLBLOCK_TRY(json_of_toml(text));
  const auto& table = object_member(object_member(whole, "server"), server.c_str());
  Proposal proposal{.name = server, .declared_as = server};
  proposal.command = CELLBLOCK_TRY(texts_member(table, "command"));
  if (!starts_remote(proposal)) {
    return fail(
        fmt::format("\"{}\" is no remote server: its declaration does not start mcp-remote as "
                    "`cellblock add` has written it",
                    server));
  }
  proposal.program = CELLBLOCK_TRY(text_member(table, "program"));
  proposal.profile = CELLBLOCK_TRY(text_member(table, "profile"));
  proposal.read = CELLBLOCK_TRY(paths_in(table, "read"));
  proposal.write = CELLBLOCK_TRY(paths_in(table, "write"));
  proposal.domains = CELLBLOCK_TRY(texts_member(object_member(table, "egress"), "allow"));
  for (const auto& one : CELLBLOCK_TRY(variables_member(table, "env"))) {
    proposal.variables.emplace_back(one.name, one.value);
  }
  for (const auto& one : CELLBLOCK_TRY(variables_member(table, "env_from_file"))) {
    proposal.secrets.push_back({.variable = one.name, .file = one.value});
  }
  proposal.users = {std::to_string(::geteuid())};
  return proposal;
}

Result<std::string> run_authorization(const Work& work, const Proposal& proposal,
                                      const Interruption& interruption) {
  if (!starts_remote(proposal)) return fail("it is no server that is reached by an address");
  const auto places = CELLBLOCK_TRY(flow_places(work));
  CELLBLOCK_CHECK(run_flow(work, proposal, places, interruption));
  return places.output;
}

Proposal with_authorization_in(const std::string& directory, Proposal proposal) {
  constexpr const char* variable = "MCP_REMOTE_CONFIG_DIR";
  proposal.write.push_back({.path = directory, .note = "", .target = "/out"});
  std::erase_if(proposal.variables, [](const auto& one) { return one.first == variable; });
  proposal.variables.emplace_back(variable, "/out/tree");
  std::erase_if(proposal.secrets,
                [](const auto& one) { return one.variable == authorization_variable; });
  return proposal;
}

Result<std::string> obtained_authorization(const Work& work, const std::string& directory) {
  const auto files = CELLBLOCK_TRY(files_in(work, directory));
  const auto random = CELLBLOCK_TRY(random_text());
  return authorization_text(files, std::time(nullptr), random);
}

}  // namespace cellblock::cli
