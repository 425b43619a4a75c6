// cellblock-probe: tries what a cell should hold back, as a server in it would.
//
//   cellblock-probe --list                        the attempts
//   cellblock-probe --run [--tsv|--json] [ID...]  runs them here, wherever that is
//   cellblock-probe --mcp                         is an MCP server on stdin and stdout
//
// `--declared TEXT` (policy/sandbox/probe_declaration.h) tells what is declared for the cell, so
// that what is open by declaration is told from what should not be. `--target KIND=VALUE` names
// something outside to aim at. `--bombs` and `--with-fatal` add the attempts of those dangers.
//
// The MCP server has one tool, `run`. Its arguments, all optional:
//   {"only": ["ID", ...], "bombs": false, "fatal": false,
//    "targets": {"tcp": "ADDRESS:PORT", "abstract_socket": "NAME", "unix_socket": "PATH",
//                "datagram_socket": "PATH", "file": "PATH", "variable": "NAME", "host_name":
//                "NAME", "process": "PID"}}
// Its result: `content` is one text block with a table, and `structuredContent` (also what --json
// prints) is
//   {"declared": "network=none profile=native ...",      // "" where nothing was declared
//    "attempts": [{
//       "id": "open_core_pattern",
//       "class": "kernel",                                // the classes of attempt.h
//       "meaning": "a crash of any process runs a program of its choice as root of the host",
//       "held": true,
//       "result": "held",        // "held" | "open" | "not_applicable" | "unclear"
//       "verdict": "held",       // "held" | "declared" (open, and declared so) | "unexpected"
//       (open
//                                // or unclear) | "not_applicable"
//       "errno": "ENOENT",       // "" where there is none
//       "detail": "",            // how it was held, or what is lacking; printable ASCII
//       "declared_by": ""        // `network = "host"`, with verdict "declared"
//    }, ...],
//    "summary": {"attempts": 150, "held": 140, "declared": 4, "unexpected": 0,
//                "not_applicable": 6}}
// Attempts come in the order of --list. Every text in it is printable ASCII.

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "supervisor/probe/mcp_server.h"
#include "supervisor/probe/report.h"
#include "supervisor/probe/runner.h"

namespace cellblock::probe {
namespace {

constexpr char usage[] =
    "usage: cellblock-probe --list\n"
    "       cellblock-probe --run [--tsv|--json] [--bombs] [--with-fatal] [--declared TEXT]\n"
    "                       [--target KIND=VALUE]... [ID]...\n"
    "       cellblock-probe --mcp [--declared TEXT]\n";

enum class Mode : std::uint8_t { none, list, run, mcp };
enum class Format : std::uint8_t { table, tsv, json };

struct Options {
  Mode mode = Mode::none;
  Format format = Format::table;
  Selection selection;
  std::optional<ProbeDeclaration> declaration;
};

int misuse(const std::string& what) {
  std::cerr << "cellblock-probe: " << what << "\n" << usage;
  return 2;
}

bool read_target(const std::string& text, Targets& targets) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  return set_target(targets, text.substr(0, equals), text.substr(equals + 1));
}

// The flags that stand alone.
bool read_flag(const std::string& word, Options& options) {
  if (word == "--list")
    options.mode = Mode::list;
  else if (word == "--run")
    options.mode = Mode::run;
  else if (word == "--mcp")
    options.mode = Mode::mcp;
  else if (word == "--tsv")
    options.format = Format::tsv;
  else if (word == "--json")
    options.format = Format::json;
  else if (word == "--bombs")
    options.selection.bombs = With::yes;
  else if (word == "--with-fatal")
    options.selection.fatal = With::yes;
  else
    return false;
  return true;
}

Result<Options> parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (read_flag(words[i], options)) continue;
    const bool takes_value = words[i] == "--declared" || words[i] == "--target";
    if (!takes_value && words[i].starts_with("-")) return fail("unknown flag " + words[i]);
    if (!takes_value) {
      options.selection.only.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) return fail(words[i] + " needs a value");
    const std::string& value = words[++i];
    if (words[i - 1] == "--declared") {
      options.declaration = CELLBLOCK_TRY(read_probe_declaration(value));
    } else if (!read_target(value, options.selection.targets)) {
      return fail("no such target: " + value);
    }
  }
  if (const auto unknown = unknown_id(options.selection)) return fail("no attempt " + *unknown);
  return options;
}

int run_here(const Options& options) {
  const std::vector<Tried> results = run(options.selection);
  switch (options.format) {
    case Format::tsv:
      std::cout << to_tsv(results, options.declaration);
      break;
    case Format::json:
      std::cout << to_json(results, options.declaration).dump() << '\n';
      break;
    case Format::table:
      std::cout << to_table(results, options.declaration);
      break;
  }
  if (!std::cout.flush().good()) return 1;
  const bool whole_set = options.selection.only.empty();
  if (!whole_set || !nothing_held(results)) return 0;
  std::cerr << "cellblock-probe: not one attempt was held, which says nothing about a cell\n";
  return 1;
}

int serve(const Options& options) {
  const McpServer server([&options](const Selection& selection) {
    const std::vector<Tried> results = run(selection);
    return RunResult{to_table(results, options.declaration), to_json(results, options.declaration)};
  });
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = server.answer(line);
    if (!answer) continue;
    std::cout << *answer << '\n' << std::flush;
    if (!std::cout.good()) return 1;
  }
  return 0;
}

int run_program(const std::vector<std::string>& words) {
  const auto options = parse(words);
  if (!options) return misuse(options.error().text);
  switch (options->mode) {
    case Mode::list:
      std::cout << list_of_attempts();
      return std::cout.flush().good() ? 0 : 1;
    case Mode::run:
      return run_here(*options);
    case Mode::mcp:
      return serve(*options);
    case Mode::none:
      break;
  }
  return misuse("nothing to do");
}

}  // namespace
}  // namespace cellblock::probe

int main(int argc, char** argv) {
  return cellblock::probe::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
