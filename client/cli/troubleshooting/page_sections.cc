#include "client/cli/troubleshooting/page_sections.h"

namespace cellblock::cli {
namespace {

// "[words](target)": the words.
std::string without_links(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto opened = text.find('[');
    const auto middle = opened == std::string_view::npos ? opened : text.find("](", opened);
    const auto closed = middle == std::string_view::npos ? middle : text.find(')', middle);
    if (closed == std::string_view::npos) return plain + std::string(text);
    // Of "[server.NAME] and [words](target)" the last bracket before the words.
    const auto begin = text.rfind('[', middle);
    plain += text.substr(0, begin);
    plain += text.substr(begin + 1, middle - begin - 1);
    text.remove_prefix(closed + 1);
  }
  return plain;
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Lines of one paragraph are one; a list's items stay apart.
void append_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  const bool is_item = line.starts_with("- ");
  if (!text.empty()) text += is_item ? "\n" : " ";
  text += line;
}

void finish(std::vector<PageSection>& sections) {
  if (!sections.empty()) sections.back().text = without_links(sections.back().text);
}

}  // namespace

std::vector<PageSection> page_sections(std::string_view markdown) {
  constexpr std::string_view group_mark = "## ";
  constexpr std::string_view section_mark = "### ";
  std::vector<PageSection> sections;
  std::string group;
  bool is_inside = false;
  while (!markdown.empty()) {
    const auto line = take_line(markdown);
    if (line.starts_with(section_mark)) {
      finish(sections);
      sections.push_back(
          {.name = std::string(line.substr(section_mark.size())), .group = group, .text = {}});
      is_inside = true;
    } else if (line.starts_with(group_mark)) {
      group = line.substr(group_mark.size());
      is_inside = false;
    } else if (is_inside) {
      append_line(sections.back().text, line);
    }
  }
  finish(sections);
  return sections;
}

std::string first_sentence(const PageSection& section) {
  const auto line = section.text.substr(0, section.text.find('\n'));
  const auto end = line.find(". ");
  return end == std::string::npos ? line : line.substr(0, end + 1);
}

}  // namespace cellblock::cli
