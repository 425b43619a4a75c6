#include "client/cli/status/pin_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "client/cli/common/admin_sockets.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/pins/definition_diff.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t short_digest = 12;

std::string diff_text(const Json& definition, Style style) {
  const auto is = definition.find("is");
  if (is == definition.end()) return "  its text is too long to be kept or shown\n";
  std::string text;
  for (const auto& line :
       definition_diff(raw_text(definition, "was"), raw_text(definition, "is"))) {
    const bool was = line.side == DiffLine::Side::was;
    const char* mark = line.side == DiffLine::Side::both ? " " : was ? "-" : "+";
    const Colour colour = line.side == DiffLine::Side::both ? Colour::plain
                          : was                             ? Colour::bad
                                                            : Colour::good;
    text += fmt::format("  {}\n", style.paint(colour, fmt::format("{} {}", mark, line.text)));
  }
  return text;
}

// Of what is pinned; empty: nobody said yes to it, it was let pass at first sight.
std::string author_of(const Json& definition) {
  const auto found = definition.find("accepted_by");
  if (found == definition.end() || !found->is_number_unsigned()) return {};
  const auto uid = found->get<std::uint64_t>();
  if (uid > std::numeric_limits<std::uint32_t>::max()) return {};
  return safe_line(user_name(static_cast<std::uint32_t>(uid)));
}

bool is_member_true(const Json& object, const char* name) {
  return object.value(name, Json()) == Json(true);
}

}  // namespace

bool is_withheld(const Json& definition) { return raw_text(definition, "state") == "withheld"; }

std::string pin_label(const Json& definition) {
  return fmt::format("{} \"{}\"", text_of(definition, "kind"), text_of(definition, "name"));
}

std::string definition_text(const Json& definition, Style style) {
  if (is_withheld(definition)) {
    return fmt::format("  {}  {} {}\n", style.paint(Colour::bad, "withheld"), pin_label(definition),
                       text_of(definition, "text"));
  }
  const std::string author = author_of(definition);
  const auto unchecked = text_of(definition, "unchecked");
  return fmt::format("  pinned    {}  {}{}\n{}", pin_label(definition),
                     text_of(definition, "digest").substr(0, short_digest),
                     author.empty() ? "" : "  accepted by " + author,
                     unchecked.empty()
                         ? ""
                         : fmt::format("            arguments are not held to {}\n", unchecked));
}

std::string withheld_text(const Json& server, const Json& definition, Style style) {
  const std::string author = author_of(definition);
  return fmt::format(
      "{}: {} {}\n  digest {}\n{}{}", text_of(server, "server"), pin_label(definition),
      text_of(definition, "text"), text_of(definition, "digest"),
      author.empty() ? "" : fmt::format("  what was pinned was accepted by {}\n", author),
      diff_text(definition, style));
}

std::string server_line(const Json& server, const std::string& for_flag) {
  std::size_t pinned = 0;
  std::size_t withheld = 0;
  for (const auto& one : objects_of(server, "definitions"))
    ++(is_withheld(one) ? withheld : pinned);
  std::string text =
      fmt::format("{} (pin = \"{}\"): {} pinned, {} withheld\n", text_of(server, "server"),
                  text_of(server, "pin"), pinned, withheld);
  if (is_member_true(server, "damaged")) {
    text += fmt::format(
        "  what was pinned cannot be read, so nothing is let pass: \"cellblock "
        "forget {}{}\" begins anew\n",
        text_of(server, "server"), for_flag);
  }
  if (!is_member_true(server, "kept")) text += "  kept in memory only, until this gateway ends\n";
  if (const auto count = number_of(server, "overflowed"); count > 0) {
    text += fmt::format("  {} times there was no room to keep one\n", count);
  }
  for (const auto& pattern : texts_of(server, "idle_patterns")) {
    text += fmt::format("  \"{}\" in its rules names no tool that is pinned\n", pattern);
  }
  return text;
}

}  // namespace cellblock::cli
