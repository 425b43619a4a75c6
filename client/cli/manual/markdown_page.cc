#include "client/cli/manual/markdown_page.h"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "policy/base/trimmed.h"

namespace cellblock::cli {

std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    begins = letter == '\n';
  }
  return out;
}

std::string roff_block(std::string_view text) {
  return text.empty() ? std::string() : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

namespace {

bool is_letter(char byte) { return std::isalnum(static_cast<unsigned char>(byte)) != 0; }

// Whether each bracket that it closes was opened in it.
bool is_balanced(std::string_view text) {
  int depth = 0;
  for (const char letter : text) {
    depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    if (depth < 0) return false;
  }
  return true;
}

/// One run of text with its fonts. Code is bold, and so is what is emphasised strongly.
class Inline {
 public:
  std::string read(std::string_view text) {
    for (rest_ = text; !rest_.empty();) take();
    return std::move(out_);
  }

 private:
  void take() {
    if (rest_.front() == '`') return take_code();
    if (rest_.starts_with("**")) return toggle(strong_, 2);
    const bool closes = emphasised_ && rest_.front() == '*';
    const bool opens = rest_.front() == '*' && rest_.size() > 1 && is_letter(rest_[1]);
    if (closes || opens) return toggle(emphasised_, 1);
    if (rest_.front() == '[' && take_link()) return;
    const bool is_escaped = rest_.starts_with("\\") && rest_.size() > 1 && !is_letter(rest_[1]);
    if (is_escaped) rest_.remove_prefix(1);
    out_ += rest_.front() == '\\' || rest_.front() == '-' ? roff(rest_.substr(0, 1))
                                                          : std::string(rest_.substr(0, 1));
    rest_.remove_prefix(1);
  }

  void take_code() {
    const auto end = rest_.find('`', 1);
    const auto code = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
    // A pipe inside a table is escaped even in code.
    std::string text(code);
    for (auto at = text.find("\\|"); at != std::string::npos; at = text.find("\\|", at)) {
      text.erase(at, 1);
    }
    out_ += "\\fB\\&" + roff(text) + font();
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  }

  void toggle(bool& kind, std::size_t marks) {
    kind = !kind;
    out_ += font();
    rest_.remove_prefix(marks);
  }

  // What it is called, and the other document that it leads to.
  bool take_link() {
    const auto middle = rest_.find("](");
    const auto end = middle == std::string_view::npos ? middle : rest_.find(')', middle);
    if (end == std::string_view::npos || !is_balanced(rest_.substr(1, middle - 1))) return false;
    const std::string_view target = rest_.substr(middle + 2, end - middle - 2);
    const std::string_view document = target.substr(0, target.find('#'));
    const std::string text(rest_.substr(1, middle - 1));
    out_ += Inline().read(text);
    if (strong_ || emphasised_) out_ += font();
    if (!document.empty() && document != text) out_ += fmt::format(" [{}]", roff(document));
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string font() const { return strong_ ? "\\fB" : emphasised_ ? "\\fI" : "\\fR"; }

  std::string_view rest_;
  std::string out_;
  bool strong_ = false;
  bool emphasised_ = false;
};

// Text that begins a line of man's.
std::string line_of(std::string_view text) {
  auto line = Inline().read(text);
  if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
  return line + "\n";
}

// At pipes that are not escaped.
std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  row.remove_prefix(1);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != '|' || (i > 0 && row[i - 1] == '\\')) continue;
    cells.push_back(trimmed(row.substr(begin, i - begin)));
    begin = i + 1;
  }
  return cells;
}

/// Lines of a document, one block after the other.
class Page {
 public:
  void add(std::string_view line) {
    if (is_code_ || line.starts_with("```")) return add_code(line);
    if (line.empty()) return end_block();
    if (line.starts_with('#')) return add_heading(line);
    if (line.starts_with('|')) return add_row(line);
    if (line.starts_with("- ")) {
      end_block();
      opening_ = ".IP \\(bu 2\n";
      line.remove_prefix(2);
    }
    block_ += (block_.empty() ? "" : " ") + std::string(trimmed(line));
  }

  std::string end() {
    end_block();
    return std::move(out_);
  }

 private:
  void end_block() {
    if (!block_.empty()) out_ += opening_ + line_of(block_);
    block_.clear();
    opening_ = ".PP\n";
    titles_.clear();
  }

  void add_code(std::string_view line) {
    if (!line.starts_with("```")) {
      code_ += std::string(line) + "\n";
      return;
    }
    if (is_code_ && !code_.empty()) {
      code_.pop_back();
      out_ += ".RS 4\n" + roff_block(code_) + ".RE\n";
    }
    if (!is_code_) end_block();
    code_.clear();
    is_code_ = !is_code_;
  }

  void add_heading(std::string_view line) {
    end_block();
    const auto level = line.find_first_not_of('#');
    if (level == 1) return;  // the title
    out_ += (level == 2 ? ".SH " : ".SS ") + line_of(trimmed(line.substr(level)));
  }

  void add_row(std::string_view line) {
    if (!block_.empty()) end_block();
    const auto cells = cells_of(line);
    if (titles_.empty()) {
      titles_.assign(cells.begin(), cells.end());
    } else if (!line.starts_with("|-") && !cells.empty()) {
      add_term(cells);
    }
  }

  void add_term(const std::vector<std::string_view>& cells) {
    std::string text;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const std::string title = i < titles_.size() ? titles_[i] : "";
      const bool speaks_for_itself = cells.size() == 2 || title.empty() || title == "meaning";
      if (cells[i].empty()) continue;
      text += fmt::format("{}{}{}", text.empty() ? "" : "; ", speaks_for_itself ? "" : title + ": ",
                          cells[i]);
    }
    out_ += ".TP\n" + line_of(cells.front()) + line_of(text);
  }

  std::string out_;
  std::string opening_ = ".PP\n";
  std::string block_;
  std::string code_;
  bool is_code_ = false;
  std::vector<std::string> titles_;  ///< of the table that is read
};

}  // namespace

std::string markdown_page(std::string_view markdown) {
  Page page;
  while (!markdown.empty()) {
    const auto end = markdown.find('\n');
    page.add(markdown.substr(0, end));
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
  }
  return page.end();
}

}  // namespace cellblock::cli
