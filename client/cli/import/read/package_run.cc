#include "client/cli/import/read/package_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <utility>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Words = std::span<const std::string>;

struct Runner {
  std::string_view program;
  std::string_view second;  ///< a word that belongs to it; empty: none
  std::string_view third;
  Registry registry;
};

constexpr Runner runners[] = {
    {"npx", "", "", Registry::npm},      {"bunx", "", "", Registry::npm},
    {"pnpx", "", "", Registry::npm},     {"npm", "exec", "", Registry::npm},
    {"npm", "x", "", Registry::npm},     {"pnpm", "dlx", "", Registry::npm},
    {"yarn", "dlx", "", Registry::npm},  {"bun", "x", "", Registry::npm},
    {"uvx", "", "", Registry::pypi},     {"uv", "tool", "run", Registry::pypi},
    {"pipx", "run", "", Registry::pypi},
};

// Options without a value, which say nothing about what is run.
constexpr std::array<std::string_view, 14> idle_options = {"-y",         "--yes",
                                                           "-q",         "--quiet",
                                                           "--silent",   "--prefer-offline",
                                                           "--bun",      "--prefer-online",
                                                           "--no-cache", "--isolated",
                                                           "--offline",  "--no-install",
                                                           "--refresh",  "-n"};
constexpr std::array<std::string_view, 4> package_options = {"-p", "--package", "--from", "--spec"};

std::string_view name_in(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  for (const std::string_view suffix : {".cmd", ".exe"}) {
    if (path.ends_with(suffix)) path.remove_suffix(suffix.size());
  }
  return path;
}

// The words of `runner` that `command` begins with; 0: others.
std::size_t words_of(const Runner& runner, Words command) {
  if (name_in(command[0]) != runner.program) return 0;
  if (runner.second.empty()) return 1;
  if (command.size() < 2 || command[1] != runner.second) return 0;
  if (runner.third.empty()) return 2;
  return command.size() > 2 && command[2] == runner.third ? 3 : 0;
}

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

struct Options {
  std::string package;    ///< named by an option
  std::size_t words = 0;  ///< how many were options
};

std::unexpected<Error> not_told(const std::string& option) {
  return fail(
      fmt::format("with \"{}\" it cannot be told which package it runs; install that "
                  "package, and name its program",
                  safe_line(option.substr(0, option.find('=')))));
}

// One option at words[at]; how many words it takes. In uvx -p is a version of Python.
Result<std::size_t> read_option(Words words, std::size_t at, Registry registry, Options& options) {
  const std::string& word = words[at];
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  if (is_one_of(idle_options, word)) return 1;
  const bool is_python = registry == Registry::pypi && (name == "-p" || name == "--python");
  if (!is_python && !is_one_of(package_options, name)) return not_told(word);
  const bool is_joined = equals != std::string::npos;
  if (!is_joined && at + 1 >= words.size()) return not_told(word);
  if (!is_python && !options.package.empty()) return not_told(word);
  if (!is_python) options.package = is_joined ? word.substr(equals + 1) : words[at + 1];
  return is_joined ? 1 : 2;
}

Result<Options> read_options(Words words, Registry registry) {
  Options options;
  while (options.words < words.size() && words[options.words].starts_with('-')) {
    if (words[options.words] == "--") {
      ++options.words;
      break;
    }
    options.words += CELLBLOCK_TRY(read_option(words, options.words, registry, options));
  }
  return options;
}

Result<PackageRun> read_run(Words words, Registry registry) {
  const auto options = CELLBLOCK_TRY(read_options(words, registry));
  words = words.subspan(options.words);
  if (words.empty()) return fail("it names no package");
  PackageRun run;
  const bool is_named = !options.package.empty();
  run.package = CELLBLOCK_TRY(package_named(registry, is_named ? options.package : words.front()));
  if (is_named) run.program = words.front();
  run.arguments.assign(words.begin() + 1, words.end());
  // npm exec takes "--" between the package and its arguments away.
  if (!run.arguments.empty() && run.arguments.front() == "--") {
    run.arguments.erase(run.arguments.begin());
  }
  return run;
}

bool is_of_names(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '.' || byte == '_' ||
         byte == '-';
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 214 && std::ranges::all_of(name, is_of_names) &&
         name.front() != '-' && name.front() != '.';
}

bool is_npm_name(std::string_view name) {
  if (!name.starts_with('@')) return is_plain_name(name);
  const auto slash = name.find('/');
  return slash != std::string_view::npos && is_plain_name(name.substr(1, slash - 1)) &&
         is_plain_name(name.substr(slash + 1));
}

// One, rather than a range or a tag.
bool is_version(std::string_view text) {
  const auto is_part = [](char byte) { return is_of_names(byte) || byte == '+' || byte == '!'; };
  return !text.empty() && text.size() <= 64 && text.front() >= '0' && text.front() <= '9' &&
         text.find('.') != std::string_view::npos && text.find(".x") == std::string_view::npos &&
         std::ranges::all_of(text, is_part);
}

}  // namespace

Result<PackageName> package_named(Registry registry, const std::string& text) {
  const bool is_npm = registry == Registry::npm;
  const auto end = is_npm ? text.find('@', 1) : text.find_first_of("@=<>~![; ");
  PackageName package{.registry = registry, .name = text.substr(0, end), .version = {}};
  if (is_npm ? !is_npm_name(package.name) : !is_plain_name(package.name)) {
    return fail(fmt::format("\"{}\" is not the name of a package of {}; install it by hand",
                            cut_to(safe_line(text), 80), is_npm ? "npm" : "PyPI"));
  }
  if (end == std::string::npos) return package;
  if (text[end] == '[')
    return fail("its extras (\"[...]\") are not understood; install it by hand");
  const auto version = text.substr(text.find_first_not_of("@=", end) == std::string::npos
                                       ? text.size()
                                       : text.find_first_not_of("@=", end));
  if (is_version(version)) {
    package.version = version;
  } else if (version != "latest") {
    package.range = version;
  }
  return package;
}

std::string pinned(const PackageName& package) {
  return fmt::format("{}{}{}", package.name, package.registry == Registry::npm ? "@" : "==",
                     package.version.empty() ? "VERSION" : package.version);
}

Result<std::optional<PackageRun>> package_run(const std::vector<std::string>& command) {
  Words words(command);
  // What hosts on another system need to start a script.
  if (words.size() > 2 && name_in(words[0]) == "cmd" && (words[1] == "/c" || words[1] == "/C")) {
    words = words.subspan(2);
  }
  if (words.empty()) return std::nullopt;
  for (const Runner& runner : runners) {
    const auto own = words_of(runner, words);
    if (own == 0) continue;
    auto run = CELLBLOCK_TRY(read_run(words.subspan(own), runner.registry));
    return std::optional<PackageRun>(std::move(run));
  }
  return std::nullopt;
}

}  // namespace cellblock::cli
