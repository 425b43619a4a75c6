#include "client/cli/status/catalogue_text.h"

#include <fmt/format.h>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/time_text.h"

namespace cellblock::cli {
namespace {

bool is_true(const Json& object, const char* name) {
  return object.value(name, Json()) == Json(true);
}

std::string known_text(const Json& catalogue) {
  std::string text =
      fmt::format("{}, MCP {}, as found {} ({})", text_of(catalogue, "era"),
                  text_of(catalogue, "protocol_version"),
                  moment_text(number_of(catalogue, "found_at_ms")), text_of(catalogue, "source"));
  if (is_true(catalogue, "expired")) text += ", past its expiry";
  if (is_true(catalogue, "changed")) text += ", changed since";
  return text;
}

std::string lists_text(const Json& lists) {
  std::string text;
  for (const auto& [list, count] : lists.items()) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.dump(),
                        list == "resourceTemplates" ? "resource templates" : safe_line(list));
  }
  return text.empty() && !lists.empty() ? "nothing" : text;
}

std::string metadata_text(const Json& metadata) {
  std::string text;
  for (const auto& [finding, count] : metadata.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.dump(), safe_line(finding));
  }
  return text;
}

std::string pins_text(const Json& pins) {
  if (pins.empty()) return {};
  std::string text =
      labelled_line("pins", fmt::format("\"{}\", {} known, {} withheld", text_of(pins, "pin"),
                                        number_of(pins, "known"), number_of(pins, "withheld")));
  for (const auto& notice : texts_of(pins, "notices"))
    text += labelled_line("", "withheld: " + notice);
  return text;
}

}  // namespace

std::string labelled_line(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("  {:<10} {}\n", label, text);
}

std::string catalogue_text(const Json& server) {
  const Json catalogue = object_of(server, "catalogue");
  if (catalogue.empty()) return {};
  std::string text = labelled_line("era", text_of(server, "era") + " (declared)") +
                     labelled_line("catalogue", catalogue.contains("era") ? known_text(catalogue)
                                                                          : "nothing is known yet");
  if (auto lists = lists_text(object_of(catalogue, "lists")); !lists.empty())
    text += labelled_line("", "lists while no cell runs: " + lists);
  if (is_true(catalogue, "surveying")) text += labelled_line("", "it is being found out");
  const auto failed = text_of(catalogue, "failed");
  if (!failed.empty()) text += labelled_line("", "last try: " + failed);
  const Json metadata = object_of(catalogue, "metadata");
  if (!metadata.empty())
    text += labelled_line("", "metadata refused or mended: " + metadata_text(metadata));
  return text + pins_text(object_of(server, "pins"));
}

}  // namespace cellblock::cli
