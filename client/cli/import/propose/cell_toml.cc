#include "client/cli/import/propose/cell_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "client/cli/terminal/terminal_text.h"
#include "policy/base/printable.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t widest = 88;

std::string toml_character(std::string_view bytes, char32_t value) {
  if (value == '"' || value == '\\') return "\\" + std::string(bytes);
  if (value >= ' ' && safe_line(bytes) == bytes) return std::string(bytes);
  const auto number = static_cast<std::uint32_t>(value);
  return number > 0xFFFF ? fmt::format("\\U{:08X}", number) : fmt::format("\\u{:04X}", number);
}

std::string toml_key(const std::string& key) {
  const bool is_bare = std::ranges::all_of(key, [](unsigned char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
  });
  return is_bare && !key.empty() ? key : toml_text(key);
}

std::string comment(std::string_view text) { return "# " + safe_line(text) + "\n"; }

std::string listed(const std::vector<std::string>& texts) {
  std::string line;
  for (const auto& text : texts) line += (line.empty() ? "" : ", ") + toml_text(text);
  if (line.size() <= widest) return "[" + line + "]";
  std::string lines = "[\n";
  for (const auto& text : texts) lines += "  " + toml_text(text) + ",\n";
  return lines + "]";
}

std::string place_of(const ProposedPath& path) {
  return path.target.empty() ? path.path : path.path + ":" + path.target;
}

std::string path_lines(const char* key, const std::vector<ProposedPath>& paths) {
  if (paths.empty()) return {};
  std::string text = fmt::format("{} = [\n", key);
  for (const auto& path : paths) {
    text += fmt::format("  {}{},  {}", path.is_there ? "" : "# ", toml_text(place_of(path)),
                        comment(path.note));
  }
  return text + "]\n";
}

// `$${` is a configuration's way to say `${`.
std::string without_placeholders(std::string text) {
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3)) {
    text.insert(at, "$");
  }
  return text;
}

std::string network_lines(const Proposal& proposal) {
  if (proposal.domains.empty() && !proposal.users.empty()) return "network = \"none\"\n";
  if (proposal.domains.empty()) {
    return "network = \"none\"  # to open it: network = \"egress\" and egress = { allow = "
           "[\"api.example.org:443\"] }\n";
  }
  return fmt::format("network = \"egress\"\negress  = {{ allow = {} }}\n",
                     listed(proposal.domains));
}

std::string workspace_lines(Workspace workspace) {
  if (workspace == Workspace::none) return {};
  return fmt::format(
      "# TODO: it works in its host's workspace; say which directories may be one:\n"
      "# workspace = {{ allow = [\"/home/*/src/**\"], mode = \"{}\" }}\n",
      workspace == Workspace::write ? "rw" : "ro");
}

std::string limits_line(const Proposal& proposal) {
  std::string line;
  for (const auto& [name, value] : proposal.limits) {
    const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
    line += fmt::format("{}{} = {}", line.empty() ? "" : ", ", name,
                        is_number ? value : toml_text(value));
  }
  return line.empty() ? line : fmt::format("limits  = {{ {} }}\n", line);
}

// One without a name is a number.
std::string user_list(const std::vector<std::string>& users) {
  std::string line;
  for (const auto& user : users) {
    const bool is_number = user.find_first_not_of("0123456789") == std::string::npos;
    line += (line.empty() ? "" : ", ") + (is_number ? user : toml_text(user));
  }
  return "[" + line + "]";
}

std::string allow_lines(const Proposal& proposal) {
  if (!proposal.users.empty()) return {};
  const std::vector<std::string> unknown{"TODO"};
  const auto tools = listed(proposal.tools.empty() ? unknown : proposal.tools);
  std::string line = fmt::format("allow = {{ users = [\"TODO\"], tools = {} }}", tools);
  std::ranges::replace(line, '\n', ' ');
  return "# TODO: until then nobody may use it:\n# " + line + "\n";
}

// A table of its own has room for many tools.
std::string allow_table(const Proposal& proposal) {
  if (proposal.users.empty()) return {};
  return fmt::format("\n[server.{}.allow]\nusers = {}\ntools = {}\n", proposal.name,
                     user_list(proposal.users), listed(proposal.tools));
}

std::string variable_lines(const Proposal& proposal) {
  std::string text;
  if (!proposal.variables.empty()) text += fmt::format("\n[server.{}.env]\n", proposal.name);
  for (const auto& [name, value] : proposal.variables) {
    text += fmt::format("{} = {}\n", toml_key(name), toml_text(without_placeholders(value)));
  }
  if (proposal.secrets.empty()) return text;
  text += proposal.users.empty()
              ? "\n# TODO: write each value into its file, which only cellblock may read.\n"
              : "\n";
  text += fmt::format("[server.{}.env_from_file]\n", proposal.name);
  for (const auto& secret : proposal.secrets) {
    text += fmt::format("{} = {}\n", toml_key(secret.variable), toml_text(secret.file));
  }
  return text;
}

std::string comment_lines(const Proposal& proposal) {
  std::string text;
  if (proposal.declared_as != proposal.name)
    text += comment("It was \"" + proposal.declared_as + "\".");
  for (const auto& step : proposal.steps) text += comment("As root, first: " + step);
  for (const auto& todo : proposal.todos) text += comment("TODO: " + todo);
  for (const auto& remark : proposal.remarks) text += comment("Not taken over: " + remark);
  return text;
}

}  // namespace

std::string server_toml(const Proposal& proposal) {
  if (!proposal.obstacle.empty()) {
    return comment(fmt::format("\"{}\": no cell: {}", proposal.declared_as, proposal.obstacle));
  }
  std::string text = comment_lines(proposal);
  text += fmt::format("[server.{}]\ncommand = {}\n", proposal.name, listed(proposal.command));
  if (!proposal.image.empty()) text += "image = " + toml_text(proposal.image) + "\n";
  if (!proposal.working_directory.empty()) {
    text += "working_directory = " + toml_text(proposal.working_directory) + "\n";
  }
  if (!proposal.program.empty()) text += "program = " + toml_text(proposal.program) + "\n";
  text += fmt::format("profile = \"{}\"\n", proposal.profile);
  text += path_lines("read", proposal.read);
  const bool is_left_to_admin = proposal.users.empty();
  if (!proposal.read.empty() && is_left_to_admin) {
    text += "# What it has to change moves from read to write.\n";
  }
  text += path_lines("write", proposal.write);
  text += workspace_lines(proposal.workspace);
  return text + network_lines(proposal) + limits_line(proposal) + allow_lines(proposal) +
         allow_table(proposal) + variable_lines(proposal);
}

std::string toml_text(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const auto length = std::max<std::size_t>(point.length, 1);
    quoted += point.length == 0 ? "\\uFFFD" : toml_character(text.substr(0, length), point.value);
    text.remove_prefix(length);
  }
  return quoted + "\"";
}

std::string cell_toml(const std::vector<Proposal>& proposals) {
  std::string text =
      "# Proposed by \"cellblock import\". Every TODO is for you to decide; \"cellblock check\" "
      "says\n"
      "# what is wrong with the rest.\n";
  for (const auto& proposal : proposals) text += "\n" + server_toml(proposal);
  return text;
}

}  // namespace cellblock::cli
