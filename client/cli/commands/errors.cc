#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/troubleshooting/page_sections.h"
#include "client/cli/troubleshooting/troubleshooting_page.h"

// What failures mean and what mends them, from the page that the program has in it.
namespace cellblock::cli {
namespace {

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (auto& section : page_sections(troubleshooting_page))
    names.push_back(std::move(section.name));
  return names;
}

constexpr Option failure_name{.name = "CODE",
                              .what = "a failure code or verdict; without it all are listed",
                              .choices = section_names};

std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string lines;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t indent = line.starts_with("- ") ? 2 : 0;
    lines += wrapped(std::string(line), width, indent) + "\n";
  }
  return lines;
}

std::string list_text(const std::vector<PageSection>& sections, std::size_t width) {
  constexpr std::size_t name_columns = 22;
  std::string text;
  std::string group;
  for (const auto& section : sections) {
    if (section.group != group) text += (text.empty() ? "" : "\n") + section.group + ":\n";
    group = section.group;
    const auto line =
        fmt::format("  {:<{}}{}", section.name, name_columns, first_sentence(section));
    text += wrapped(line, width, name_columns + 2) + "\n";
  }
  return text;
}

Json json_of(const PageSection& section) {
  return Json{{"code", section.name}, {"group", section.group}, {"text", section.text}};
}

Exit show_all(const Context& context, const std::vector<PageSection>& sections) {
  if (context.output == Output::human) {
    fmt::print("{}", list_text(sections, terminal_width()));
    return Exit::ok;
  }
  Json list = Json::array();
  for (const auto& section : sections) list.push_back(json_of(section));
  return print_json(dumped(Json{{"errors", std::move(list)}}));
}

Exit run_errors(const Context& context, const Words& words) {
  const auto sections = page_sections(troubleshooting_page);
  const auto section = std::ranges::find(sections, words.text(failure_name), &PageSection::name);
  if (section == sections.end()) return show_all(context, sections);
  if (context.output == Output::json) return print_json(dumped(json_of(*section)));
  fmt::print("{}\n\n{}", section->name, wrapped_lines(section->text, terminal_width()));
  return Exit::ok;
}

}  // namespace

Command errors_command() {
  return {.name = "errors",
          .group = Group::see,
          .what = "what a failure code or verdict means, its usual causes, and what mends it",
          .example = "cellblock errors early_crash",
          .optional = {&failure_name},
          .run = run_errors};
}

}  // namespace cellblock::cli
