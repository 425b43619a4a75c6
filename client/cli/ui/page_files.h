#pragma once

#include <span>
#include <string_view>

/// The page's files, which the program holds as text.
namespace cellblock::cli::ui {

struct PageFile {
  std::string_view path;  ///< "/page.css"
  std::string_view type;
  std::string_view text;
};

std::span<const PageFile> page_files();

}  // namespace cellblock::cli::ui
