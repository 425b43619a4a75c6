#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The sections of the page about failures, for a terminal. Pure.
namespace cellblock::cli {

struct PageSection {
  std::string name;   ///< "early_crash"
  std::string group;  ///< the heading above it: "Servers that fail"
  std::string text;   ///< without the heading; paragraphs and items, a line each
};

/// Each `###` of a Markdown page, in its order. Links are their words alone.
std::vector<PageSection> page_sections(std::string_view markdown);

/// The first sentence of the section.
std::string first_sentence(const PageSection& section);

}  // namespace cellblock::cli
