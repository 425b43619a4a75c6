#include "policy/config_reader/complaint.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace cellblock {
namespace {

auto order_of(const Complaint& complaint) {
  return std::tie(complaint.file, complaint.line, complaint.column, complaint.key);
}

// Keys and values come from the file: no terminal may be steered by them.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view word_of(Complaint::Severity severity) {
  switch (severity) {
    case Complaint::Severity::error:
      return ": error: ";
    case Complaint::Severity::broken:
      return ": broken: ";
    case Complaint::Severity::warning:
      break;
  }
  return ": warning: ";
}

}  // namespace

// What is wrong with one value often makes more of it wrong: the first says what to mend.
bool Complaints::is_said(Complaint::Severity severity, std::string_view file, Place at,
                         std::string_view key) const {
  return at.line > 0 && std::ranges::any_of(all_, [&](const Complaint& said) {
           return said.severity == severity && said.file == file && said.key == key &&
                  Place{said.line, said.column} == at;
         });
}

void Complaints::error(std::string_view file, Place at, std::string key, std::string text) {
  ++errors_;
  if (is_said(Complaint::Severity::error, file, at, key)) return;
  add({Complaint::Severity::error, std::string(file), at.line, at.column, std::move(key),
       std::move(text)});
}

bool Complaints::broken(std::string_view file, Place at, std::string key, std::string text) {
  if (is_said(Complaint::Severity::broken, file, at, key)) return false;
  ++broken_;
  add({Complaint::Severity::broken, std::string(file), at.line, at.column, std::move(key),
       std::move(text)});
  return true;
}

void Complaints::warning(std::string_view file, Place at, std::string key, std::string text) {
  add({Complaint::Severity::warning, std::string(file), at.line, at.column, std::move(key),
       std::move(text)});
}

bool Complaints::mentions(std::string_view file, std::string_view key) const {
  return std::ranges::any_of(all_, [&](const Complaint& complaint) {
    return complaint.file == file && complaint.key == key;
  });
}

void Complaints::add(Complaint complaint) {
  if (all_.size() >= max_complaints) {
    ++left_out_;
    return;
  }
  all_.push_back(std::move(complaint));
}

std::vector<Complaint> Complaints::take_sorted() {
  std::ranges::stable_sort(
      all_, [](const Complaint& a, const Complaint& b) { return order_of(a) < order_of(b); });
  if (left_out_ > 0) {
    const auto severity = errors_ > 0 ? Complaint::Severity::error : Complaint::Severity::warning;
    all_.push_back(
        {severity, all_.back().file, 0, 0, "", fmt::format("and {} more, not shown", left_out_)});
  }
  return std::exchange(all_, {});
}

std::string to_line(const Complaint& complaint) {
  std::string line = printable(complaint.file);
  if (complaint.line > 0) line += fmt::format(":{}:{}", complaint.line, complaint.column);
  line += word_of(complaint.severity);
  if (!complaint.key.empty()) line += printable(complaint.key) + ": ";
  return line + printable(complaint.text);
}

}  // namespace cellblock
