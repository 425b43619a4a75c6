#include "policy/config_check/value_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "policy/base/units.h"
#include "policy/config/path_rules.h"
#include "policy/rates/rate_text.h"

namespace cellblock {
namespace {

// Stores a parsed value, or complains that it could not be parsed or is out of its range.
template <class T, class ToText>
void store(const Scope& scope, std::string_view key, Place at, const Result<T>& parsed,
           Range<T> range, ToText to_text, T& out, std::string_view besides = {}) {
  if (!parsed) {
    scope.error(at, key, fmt::format("{}{}", parsed.error().text, besides));
  } else if (!range.holds(*parsed)) {
    scope.error(at, key,
                fmt::format("{} is out of range; allowed: {} to {}{}", to_text(*parsed),
                            to_text(range.least), to_text(range.most), besides));
  } else {
    out = *parsed;
  }
}

}  // namespace

void Scope::error(Place at, std::string_view key, std::string text) const {
  complaints.error(file, at, prefix + std::string(key), std::move(text));
}

void Scope::broken(Place at, std::string_view key, const std::string& text) const {
  if (breakage == nullptr) return error(at, key, text);
  if (!complaints.broken(file, at, prefix + std::string(key), text)) return;
  if (breakage->is_broken()) {
    ++breakage->more;
  } else {
    *breakage = {fmt::format("{}{}: {}", prefix, key, text), file, at.line};
  }
}

void Scope::warning(Place at, std::string_view key, std::string text) const {
  complaints.warning(file, at, prefix + std::string(key), std::move(text));
}

bool Scope::mentioned(std::string_view key) const {
  return complaints.mentions(file, prefix + std::string(key));
}

Scope Scope::below(std::string_view table) const {
  return {complaints, file, prefix + std::string(table) + ".", breakage};
}

void check_integer(const Scope& scope, std::string_view key, const Maybe<std::int64_t>& text,
                   Range<std::int64_t> range, std::uint32_t& out) {
  if (!text) return;
  std::int64_t value = out;
  const auto to_text = [](std::int64_t number) { return std::to_string(number); };
  store(scope, key, text->at, Result<std::int64_t>(text->value), range, to_text, value);
  out = static_cast<std::uint32_t>(value);
}

void check_size(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                Range<std::uint64_t> range, std::uint64_t& out) {
  if (text) store(scope, key, text->at, parse_size(text->value), range, size_text, out);
}

void check_number(const Scope& scope, std::string_view key, const Maybe<double>& text,
                  Range<double> range, std::string_view unit, double& out) {
  if (!text) return;
  if (range.holds(text->value)) {
    out = text->value;
  } else {
    scope.error(text->at, key,
                fmt::format("{} is out of range; allowed: {} to {} {}", text->value, range.least,
                            range.most, unit));
  }
}

void check_duration(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                    Range<std::chrono::milliseconds> range, std::chrono::milliseconds& out,
                    std::string_view besides) {
  if (!text) return;
  store(scope, key, text->at, parse_duration(text->value), range, duration_text, out, besides);
}

void check_path(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                std::string& out) {
  if (!text) return;
  if (auto problem = path_problem(text->value)) {
    scope.error(text->at, key,
                fmt::format("\"{}\" {}; allowed: an absolute path without \".\", \"..\" and \"//\"",
                            text->value, *problem));
    return;
  }
  out = text->value;
}

void refuse_word(const Scope& scope, std::string_view key, const TextAt& text,
                 std::span<const std::string_view> known) {
  scope.error(text.at, key,
              fmt::format("\"{}\" is not known to this version; allowed: \"{}\"", text.value,
                          fmt::join(known, "\", \"")));
}

void KeyReader::time_or(std::string_view key, std::optional<milliseconds>& out,
                        std::string_view none, milliseconds least, milliseconds most,
                        std::string_view /*about*/) {
  const auto text = written_.text(key);
  if (!text) return;
  if (text->value == none) return out.reset();
  check_duration(scope_, key, text, {least, most}, out.emplace(least),
                 fmt::format(", or \"{}\"", none));
}

void KeyReader::rate(std::optional<Rate>& out, std::string_view /*about*/) {
  const auto text = written_.text("rate");
  bool is_wrong = false;
  if (text) {
    out.reset();
    const auto rate = text->value == "none" ? Result<Rate>(Rate{}) : parse_rate(text->value);
    is_wrong = !rate;
    if (is_wrong) scope_.error(text->at, "rate", rate.error().text);
    if (!is_wrong && text->value != "none") out = *rate;
  }
  const auto burst = written_.get<std::int64_t>("burst");
  if (!burst || is_wrong) return;
  if (out) return check_integer(scope_, "burst", burst, {1, most_calls}, out->burst);
  scope_.error(burst->at, "burst",
               "has no meaning without rate; allowed: set that as well, or leave this out");
}

}  // namespace cellblock
