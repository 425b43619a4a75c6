#include "client/cli/table/words.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace cellblock::cli {

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [read, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && read == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

void Words::set(const Option& option, std::vector<std::string> values) {
  values_[&option] = std::move(values);
}

bool Words::has(const Option& option) const { return values_.contains(&option); }

std::string Words::text(const Option& option) const {
  const auto found = values_.find(&option);
  const bool is_there = found != values_.end() && !found->second.empty();
  return is_there ? found->second.front() : std::string(option.standard);
}

std::vector<std::string> Words::all(const Option& option) const {
  const auto found = values_.find(&option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

unsigned Words::number(const Option& option) const {
  const auto digits = text(option);
  unsigned number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::chrono::milliseconds Words::time(const Option& option) const {
  constexpr double milliseconds_in_second = 1000;
  const auto written = text(option);
  double number = 0;
  const auto* end = written.data() + written.size();
  const std::string_view unit(std::from_chars(written.data(), end, number).ptr, end);
  const auto found = std::ranges::find(option.units, unit, &Unit::name);
  const double seconds = found == option.units.end() ? number : number * found->factor;
  return std::chrono::milliseconds(static_cast<long>(seconds * milliseconds_in_second));
}

}  // namespace cellblock::cli
