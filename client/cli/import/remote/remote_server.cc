#include "client/cli/import/remote/remote_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_options.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr std::string_view remote_package = "mcp-remote";
constexpr const char* header_option = "--header";
constexpr const char* client_option = "--static-oauth-client-info";
constexpr std::size_t most_headers = 32;

struct RemoteLine {
  std::string url;
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> values;  ///< of those options that have one
  std::vector<DeclaredVariable> headers;
  std::string client_information;  ///< JSON with a secret; empty: none
};

// ---- reading ----

Result<DeclaredVariable> header_in(const std::string& text) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char byte) {
    return std::isalnum(byte) != 0 || byte == '-' || byte == '_';
  });
  if (colon == std::string::npos || !is_name) {
    return fail("--header takes \"NAME: VALUE\", the name of letters, digits and -");
  }
  const auto value = text.find_first_not_of(" \t", colon + 1);
  return DeclaredVariable{.name = name,
                          .value = value == std::string::npos ? "" : text.substr(value)};
}

Result<void> read_option(std::span<const std::string> words, std::size_t& at, RemoteLine& line) {
  const auto& name = words[at];
  const bool is_own = name == header_option || name == client_option;
  const auto use = is_own ? OptionUse::value : use_of_option(name);
  if (!use) {
    return fail(fmt::format("mcp-remote's option \"{}\" is nothing that a cell can keep",
                            cut_to(safe_line(name.substr(0, name.find('='))), 80)));
  }
  const bool has_value = *use == OptionUse::value || *use == OptionUse::dropped_value;
  if (has_value && ++at >= words.size()) return fail(fmt::format("{} has no value", name));
  if (name == header_option) {
    line.headers.push_back(CELLBLOCK_TRY(header_in(words[at])));
  } else if (name == client_option) {
    line.client_information = words[at];
  } else if (*use == OptionUse::value) {
    CELLBLOCK_CHECK(check_option_value(name, words[at]));
    line.options.insert(line.options.end(), {name, words[at]});
    line.values.emplace_back(name, words[at]);
  } else if (*use == OptionUse::flag) {
    line.options.push_back(name);
  }
  return {};
}

bool is_port(std::string_view word) {
  return !word.empty() && word.size() <= 5 &&
         std::ranges::all_of(word, [](unsigned char byte) { return std::isdigit(byte) != 0; });
}

// `URL [PORT] OPTION...`, in any order.
Result<RemoteLine> read_line(std::span<const std::string> words) {
  RemoteLine line;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].starts_with('-')) {
      CELLBLOCK_CHECK(read_option(words, at, line));
    } else if (line.url.empty()) {
      line.url = words[at];
    } else if (is_port(words[at]) && line.options.empty()) {
      line.options.push_back(words[at]);
    } else {
      return fail("behind its address stands a word that is no option of mcp-remote");
    }
  }
  return line;
}

// ---- headers ----

bool is_of_variables(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

std::string variable_name(std::string_view text) {
  std::string name;
  for (const char byte : text) {
    name += is_of_variables(byte)
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(byte)))
                : '_';
  }
  const bool begins_with_digit =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  return begins_with_digit ? "_" + name : name;
}

// "${NAME}", and as other hosts write it: "${env:NAME}", "${input:name}", "${NAME:-default}".
std::string name_in_placeholder(std::string_view text) {
  text = text.substr(0, text.find(":-"));
  for (const std::string_view kind : {"env:", "input:"}) {
    if (!text.starts_with(kind)) continue;
    return kind == "env:" ? std::string(text.substr(kind.size()))
                          : variable_name(text.substr(kind.size()));
  }
  return std::string(text);
}

bool is_variable(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, is_of_variables);
}

void note_secret(const std::string& name, const std::string& value, DeclaredServer& server) {
  const auto known = std::ranges::find(server.variables, name, &DeclaredVariable::name);
  if (known != server.variables.end()) {
    known->secret = true;
  } else {
    server.variables.push_back({.name = name, .value = value, .secret = true});
  }
}

std::string reference_to(const std::string& name) { return "${" + name + "}"; }

Result<std::string> secret_reference(const std::string& name, const std::string& value,
                                     DeclaredServer& server) {
  const auto known = std::ranges::find(server.variables, name, &DeclaredVariable::name);
  if (known != server.variables.end() && known->value != value) {
    return fail(fmt::format("two of its headers would be the variable {}", name));
  }
  note_secret(name, value, server);
  return reference_to(name);
}

// "Bearer " of "Bearer TOKEN": the file of the secret holds the token alone. A first word that is
// no known scheme may be part of a secret.
std::string scheme_in(const std::string& value) {
  constexpr std::array<std::string_view, 16> schemes = {
      "apikey", "api-key", "basic",  "bearer",    "digest", "dpop",         "gnap", "hoba",
      "jwt",    "key",     "mutual", "negotiate", "oauth",  "privatetoken", "ssws", "token"};
  const auto space = value.find(' ');
  if (space == std::string::npos) return {};
  auto word = value.substr(0, space);
  std::ranges::transform(word, word.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  const bool is_scheme = std::ranges::find(schemes, word) != schemes.end();
  return is_scheme ? value.substr(0, space + 1) : std::string();
}

std::string own_variable(const DeclaredVariable& header) {
  return "HEADER_" + variable_name(header.name);
}

// Text beside placeholders may be part of a token: as a variable of its own it is in no command
// line.
Result<std::string> text_beside(const DeclaredVariable& header, const std::string& text,
                                std::size_t place, DeclaredServer& server) {
  if (text.find_first_not_of(" \t,:;=/&?") == std::string::npos) return text;
  return secret_reference(fmt::format("{}_PART_{}", own_variable(header), place), text, server);
}

Result<std::string> variable_in(std::string_view placeholder) {
  auto name = name_in_placeholder(placeholder);
  if (!is_variable(name)) return fail("a header has a placeholder that is not understood");
  return name;
}

// With every placeholder in mcp-remote's own form, each a variable of the server.
Result<std::string> with_references(const DeclaredVariable& header, DeclaredServer& server) {
  const auto& value = header.value;
  auto text = scheme_in(value);
  std::size_t at = text.size();
  std::size_t place = 1;
  for (auto begin = value.find("${", at); begin != std::string::npos;
       begin = value.find("${", at)) {
    const auto end = std::min(value.find('}', begin), value.size());
    const auto name =
        CELLBLOCK_TRY(variable_in(std::string_view(value).substr(begin + 2, end - begin - 2)));
    text += CELLBLOCK_TRY(text_beside(header, value.substr(at, begin - at), place++, server));
    note_secret(name, reference_to(name), server);
    text += reference_to(name);
    at = std::min(end + 1, value.size());
  }
  text += CELLBLOCK_TRY(text_beside(header, value.substr(at), place, server));
  return text;
}

bool is_dollar_name(const std::string& text) {
  return text.starts_with('$') && is_variable(std::string_view(text).substr(1));
}

// Of what is left to be filled in in another way, "<your-token>", the whole is.
Result<std::string> value_in_line(const DeclaredVariable& header, DeclaredServer& server) {
  if (header.value.find("${") != std::string::npos) return with_references(header, server);
  const auto scheme = scheme_in(header.value);
  const auto secret = header.value.substr(scheme.size());
  const auto name = is_dollar_name(secret) ? secret.substr(1) : own_variable(header);
  if (!secret.empty() && !is_placeholder(secret)) {
    return scheme + CELLBLOCK_TRY(secret_reference(name, secret, server));
  }
  note_secret(name, reference_to(name), server);
  return scheme + reference_to(name);
}

Result<std::vector<std::string>> header_words(const RemoteLine& line, DeclaredServer& server) {
  if (line.headers.size() > most_headers) return fail("it has more than 32 headers");
  std::vector<std::string> words;
  for (const auto& header : line.headers) {
    if (header.value.find_first_of("\r\n") != std::string::npos) {
      return fail(fmt::format("the header {} is more than a line", header.name));
    }
    const auto value = CELLBLOCK_TRY(value_in_line(header, server));
    words.insert(words.end(), {header_option, header.name + ":" + value});
  }
  return words;
}

// ---- a server ----

Result<std::optional<RemoteLine>> line_of(const DeclaredServer& server) {
  if (!server.url.empty() && server.command.empty()) {
    RemoteLine line{.url = server.url, .headers = server.headers};
    for (const auto& header : line.headers) {
      CELLBLOCK_CHECK(header_in(header.name + ":"));
    }
    if (server.transport == "sse") line.options = {"--transport", "sse-first"};
    return std::optional(std::move(line));
  }
  if (server.package && is_remote(PackageRun{.package = *server.package})) {
    auto line = CELLBLOCK_TRY(read_line(server.command));
    return std::optional(std::move(line));
  }
  if (server.command.empty() || server.package) return std::nullopt;
  if (is_address(server.command.front())) {
    auto line = CELLBLOCK_TRY(read_line(server.command));
    return std::optional(std::move(line));
  }
  const auto run = package_run(server.command);
  if (!run || !*run || !is_remote(**run)) return std::nullopt;
  auto line = CELLBLOCK_TRY(read_line((*run)->arguments));
  return std::optional(std::move(line));
}

// The version that a line names stays.
std::string package_word(const DeclaredServer& server) {
  if (server.package && !server.package->version.empty()) return pinned(*server.package);
  const auto run = package_run(server.command);
  const bool is_named = run && *run && !(*run)->package.version.empty();
  return is_named ? pinned((*run)->package) : std::string(remote_package);
}

}  // namespace

bool is_remote(const PackageRun& run) {
  return run.package.registry == Registry::npm && run.package.name == remote_package &&
         (run.program.empty() || run.program == remote_package);
}

bool is_remote(const DeclaredServer& server) {
  const auto line = line_of(server);
  return !line || line->has_value();
}

Result<DeclaredServer> as_remote(DeclaredServer server) {
  auto line = CELLBLOCK_TRY(line_of(server));
  if (!line) return server;
  const auto address = CELLBLOCK_TRY(remote_address(line->url));
  std::vector<std::string> words{"npx", "-y", package_word(server), address.url};
  std::ranges::move(line->options, std::back_inserter(words));
  if (!line->client_information.empty()) {
    if (line->client_information.starts_with('@')) {
      return fail(fmt::format("{} takes the JSON itself here, and no file", client_option));
    }
    const DeclaredVariable client{.name = "OAUTH_CLIENT_INFO", .value = line->client_information};
    words.insert(words.end(), {client_option, reference_to(client.name)});
    if (client.value != reference_to(client.name)) note_secret(client.name, client.value, server);
  }
  auto headers = CELLBLOCK_TRY(header_words(*line, server));
  std::ranges::move(headers, std::back_inserter(words));
  server.command = std::move(words);
  server.package.reset();
  server.url.clear();
  server.headers.clear();
  server.transport.clear();
  return server;
}

Result<void> check_hosts_of_options(const DeclaredServer& server) {
  const auto line = CELLBLOCK_TRY(line_of(server));
  if (!line) return {};
  const auto address = CELLBLOCK_TRY(remote_address(line->url));
  for (const auto& [name, value] : line->values) {
    CELLBLOCK_CHECK(check_option_host(name, value, address));
  }
  return {};
}

std::string address_in(const PackageRun& run) {
  return run.arguments.empty() ? std::string() : run.arguments.front();
}

}  // namespace cellblock::cli
