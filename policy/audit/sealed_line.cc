#include "policy/audit/sealed_line.h"

#include <charconv>
#include <chrono>
#include <system_error>

#include "policy/encoding/hex.h"

namespace cellblock::audit {

std::string hex_of(const Sha256& digest) { return hex_text(digest); }

std::optional<Sha256> digest_of_hex(std::string_view hex) {
  Sha256 digest{};
  return read_hex_text(hex, digest) ? std::optional(digest) : std::nullopt;
}

std::optional<SealedLine> sealed_line(std::string_view line) {
  if (line.size() < line_head.size() + seal_size || !line.starts_with(line_head))
    return std::nullopt;
  const std::string_view seal = line.substr(line.size() - seal_size);
  if (!seal.starts_with(before_hash) || !seal.ends_with(after_hash)) return std::nullopt;
  const auto hash = digest_of_hex(seal.substr(before_hash.size(), hex_digits));
  if (!hash) return std::nullopt;
  SealedLine sealed{.body = line.substr(0, line.size() - seal_size), .hash = *hash};
  const char* const end = sealed.body.data() + sealed.body.size();
  const auto [rest, error] =
      std::from_chars(sealed.body.data() + line_head.size(), end, sealed.sequence);
  if (error != std::errc() || (rest != end && *rest != ',')) return std::nullopt;
  return sealed;
}

std::optional<std::int64_t> time_of(std::string_view body) {
  constexpr std::string_view name = R"("time":")";
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  const std::size_t at = body.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view text = body.substr(at + name.size(), form.size());
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !is_digit : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t from, std::size_t count) {
    int value = 0;
    for (const char c : text.substr(from, count)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok()) return std::nullopt;
  const auto moment = std::chrono::sys_days(day) + std::chrono::hours(number(11, 2)) +
                      std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2));
  return std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
}

}  // namespace cellblock::audit
