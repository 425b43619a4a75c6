#include "client/cli/import/remote/remote_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using OptionJson = nlohmann::ordered_json;

constexpr std::size_t longest_value = 4096;

enum class ValueForm : std::uint8_t { text, number, uri, parameter, metadata };

struct KnownOption {
  std::string_view name;
  OptionUse use;
  ValueForm form = ValueForm::text;
};

// What mcp-remote would write besides, or where it would go besides, is not among them.
constexpr KnownOption known_options[] = {
    {"--transport", OptionUse::value},
    {"--protocol", OptionUse::value},
    {"--ignore-tool", OptionUse::value},
    {"--resource", OptionUse::value, ValueForm::uri},
    {"--host", OptionUse::dropped_value},
    {"--callback-path", OptionUse::value},
    {"--authorize-param", OptionUse::value, ValueForm::parameter},
    {"--static-oauth-client-metadata", OptionUse::value, ValueForm::metadata},
    {"--client-metadata-url", OptionUse::value, ValueForm::uri},
    {"--connect-timeout", OptionUse::value, ValueForm::number},
    {"--headers-timeout", OptionUse::value, ValueForm::number},
    {"--body-timeout", OptionUse::value, ValueForm::number},
    {"--ping-interval", OptionUse::value, ValueForm::number},
    {"--disable-resource-parameter", OptionUse::flag},
    {"--disable-cookies", OptionUse::flag},
    {"--use-id-token", OptionUse::flag},
    {"--keep-alive", OptionUse::flag},
    {"--ipv4", OptionUse::flag},
    {"--allow-http", OptionUse::dropped},
    {"--silent", OptionUse::dropped},
    {"--debug", OptionUse::dropped},
    {"--auth-timeout", OptionUse::dropped_value},
};

// For whom a token is meant: RFC 8707, and what older authorization servers call it.
constexpr std::array<std::string_view, 2> audience_parameters = {"resource", "audience"};

const KnownOption* known_option(std::string_view name) {
  const auto* const found = std::ranges::find(known_options, name, &KnownOption::name);
  return found == std::end(known_options) ? nullptr : found;
}

ValueForm form_of(std::string_view name) {
  const auto* const known = known_option(name);
  return known == nullptr ? ValueForm::text : known->form;
}

std::unexpected<Error> secret_in(const std::string& name) {
  return fail(
      fmt::format("something in the value of {} looks like a secret, which every user of "
                  "this machine would see in a command line; allowed: --header, and "
                  "--static-oauth-client-info for a client's secret",
                  name));
}

bool is_seconds(const std::string& value) {
  return !value.empty() && value.size() <= 9 && std::ranges::all_of(value, [](unsigned char byte) {
    return std::isdigit(byte) != 0 || byte == '.';
  });
}

struct Parameter {
  std::string name;
  std::string value;
};

Parameter parameter_in(const std::string& text) {
  const auto equals = std::min(text.find('='), text.size());
  return {.name = text.substr(0, equals), .value = text.substr(std::min(equals + 1, text.size()))};
}

// ---- secrets ----

// "token_endpoint_auth_method" names a way, and has no secret.
bool is_name_of_secret(std::string_view key) {
  return sounds_secret(key) && !key.ends_with("_method") && !key.ends_with("_alg");
}

bool holds_secret_text(const OptionJson& json) {
  if (json.is_string()) return looks_secret(json.get_ref<const std::string&>());
  return std::ranges::any_of(json.items(), [](const auto& member) {
    const bool is_named = is_name_of_secret(member.key()) && member.value().is_string();
    return is_named || ((member.value().is_structured() || member.value().is_string()) &&
                        holds_secret_text(member.value()));
  });
}

Result<OptionJson> metadata_in(const std::string& name, const std::string& value) {
  if (value.starts_with('@')) return fail(fmt::format("{} takes the JSON itself, no file", name));
  auto json = json_of_json(value);
  if (!json || !json->is_object()) return fail(fmt::format("{} takes an object of JSON", name));
  return *std::move(json);
}

Result<void> check_metadata(const std::string& name, const std::string& value) {
  const auto json = CELLBLOCK_TRY(metadata_in(name, value));
  if (holds_secret_text(json)) return secret_in(name);
  return {};
}

Result<void> check_uri(const std::string& name, const std::string& value) {
  if (!is_address(value)) return {};
  const auto address = remote_address(value);
  if (!address) return fail(fmt::format("{}: {}", name, address.error().text));
  return {};
}

Result<void> check_parameter(const std::string& name, const std::string& value) {
  const auto parameter = parameter_in(value);
  if (parameter.name.empty() || value.find('=') == std::string::npos) {
    return fail(fmt::format("{} takes NAME=VALUE", name));
  }
  if (sounds_secret(parameter.name) || looks_secret(parameter.value)) return secret_in(name);
  return check_uri(name, parameter.value);
}

// ---- hosts ----

bool is_at(const std::string& uri, const RemoteAddress& address) {
  const auto named = remote_address(uri);
  return named && named->host == address.host;
}

bool is_uri(const std::string& text) { return text.find("://") != std::string::npos; }

bool parameter_is_for(const Parameter& parameter, const RemoteAddress& address) {
  const bool is_audience =
      std::ranges::find(audience_parameters, parameter.name) != audience_parameters.end();
  return (!is_audience && !is_uri(parameter.value)) || is_at(parameter.value, address);
}

bool metadata_is_for(const OptionJson& json, const RemoteAddress& address) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    return !is_uri(text) || is_at(text, address);
  }
  return !json.is_structured() || std::ranges::all_of(json, [&](const auto& member) {
    return metadata_is_for(member, address);
  });
}

bool value_is_for(const std::string& name, const std::string& value, const RemoteAddress& address) {
  switch (form_of(name)) {
    case ValueForm::uri:
      return is_at(value, address);
    case ValueForm::parameter:
      return parameter_is_for(parameter_in(value), address);
    case ValueForm::metadata: {
      const auto json = metadata_in(name, value);
      return json && metadata_is_for(*json, address);
    }
    case ValueForm::text:
    case ValueForm::number:
      break;
  }
  return true;
}

}  // namespace

std::optional<OptionUse> use_of_option(std::string_view name) {
  const auto* const known = known_option(name);
  return known == nullptr ? std::nullopt : std::optional(known->use);
}

Result<void> check_option_value(const std::string& name, const std::string& value) {
  if (value.empty() || value.size() > longest_value) {
    return fail(fmt::format("the value of {} is empty, or longer than 4096 bytes", name));
  }
  if (value.starts_with('-')) {
    return fail(fmt::format("the value of {} would be read as an option of its own", name));
  }
  if (safe_line(value) != value || value.find("${") != std::string::npos) {
    return fail(
        fmt::format("the value of {} was left to the host to fill in, or is no text", name));
  }
  switch (form_of(name)) {
    case ValueForm::number:
      if (is_seconds(value)) return {};
      return fail(fmt::format("{} takes a number of seconds", name));
    case ValueForm::parameter:
      return check_parameter(name, value);
    case ValueForm::metadata:
      return check_metadata(name, value);
    case ValueForm::text:
    case ValueForm::uri:
      break;
  }
  if (looks_secret(value)) return secret_in(name);
  return check_uri(name, value);
}

Result<void> check_option_host(const std::string& name, const std::string& value,
                               const RemoteAddress& address) {
  if (value_is_for(name, value, address)) return {};
  return fail(
      fmt::format("{} names another host than its address, {}: whoever answers there could get a "
                  "token that is meant for the other; if you mean it, add this server by its own "
                  "line: cellblock add NAME -- ADDRESS {} VALUE",
                  name, address.host, name));
}

}  // namespace cellblock::cli
