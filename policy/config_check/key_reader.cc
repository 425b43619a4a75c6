#include "policy/config_check/key_reader.h"

#include <fmt/format.h>

#include "policy/rates/rate_text.h"

namespace cellblock {

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
