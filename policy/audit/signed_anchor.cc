#include "policy/audit/signed_anchor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "policy/audit/anchor.h"
#include "policy/encoding/base64.h"

namespace cellblock::audit {
namespace {

// No signature over another text that a key may make is one over an anchor.
constexpr std::string_view purpose = "cellblock audit anchor 1\n";
constexpr std::string_view time_form = "dddd-dd-ddTdd:dd:ddZ";

enum Field : std::uint8_t { anchor_field, time_field, key_field, signature_field, field_count };
using Fields = std::array<std::string_view, field_count>;

// nullopt: there are more or fewer.
std::optional<Fields> fields_of(std::string_view line) {
  Fields fields;
  for (std::string_view& field : fields) {
    if (line.empty()) return std::nullopt;
    const std::size_t end = std::min(line.find(' '), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (!line.empty()) return std::nullopt;
  return fields;
}

bool is_time(std::string_view text) {
  return std::ranges::equal(text, time_form, [](char character, char form) {
    return form == 'd' ? character >= '0' && character <= '9' : character == form;
  });
}

std::optional<Ed25519Signature> signature_in(std::string_view text) {
  const auto bytes = base64_bytes(text);
  Ed25519Signature signature{};
  if (!bytes || bytes->size() != signature.size()) return std::nullopt;
  std::ranges::transform(*bytes, signature.begin(),
                         [](char byte) { return static_cast<std::uint8_t>(byte); });
  return signature;
}

std::string signature_text(const Ed25519Signature& signature) {
  return base64_text(std::string(signature.begin(), signature.end()));
}

std::string signed_text(std::string_view unsigned_line) {
  return std::string(purpose).append(unsigned_line);
}

Result<SignedAnchor> read_line(std::string_view line, const VerifyingKey& key) {
  const auto fields = fields_of(line);
  if (!fields && read_anchor(line)) return fail("the anchor has no signature");
  if (!fields) return fail("it is no signed anchor: SEQ:HASH TIME KEY SIGNATURE");
  const auto point = read_anchor((*fields)[anchor_field]);
  const auto signature = signature_in((*fields)[signature_field]);
  if (!point || !signature || !is_time((*fields)[time_field])) {
    return fail("it is no signed anchor, or it was altered or cut: SEQ:HASH TIME KEY SIGNATURE");
  }
  if ((*fields)[key_field] != key.id()) {
    return fail(
        fmt::format("it names another key: {} in place of {}", (*fields)[key_field], key.id()));
  }
  const auto unsigned_line = line.substr(0, line.size() - (*fields)[signature_field].size() - 1);
  if (!key.has_signed(signed_text(unsigned_line), *signature)) {
    return fail("its signature is not one of this key over these bytes: it was altered or forged");
  }
  return SignedAnchor{*point, std::string((*fields)[time_field]), std::string(line)};
}

Result<void> check_order(const std::vector<SignedAnchor>& above, const ChainPoint& point) {
  if (above.empty() || above.back().point.sequence < point.sequence) return {};
  if (above.back().point == point) return {};  // nothing was recorded between two checks
  return fail(
      fmt::format("seq {} stands below seq {}, with another hash or out of order: the log "
                  "was written anew, or lines were moved",
                  point.sequence, above.back().point.sequence));
}

}  // namespace

Result<SignedAnchor> sign_anchor(const ChainPoint& point, const std::string& time,
                                 const SigningKey& key) {
  std::string line = fmt::format("{} {} {}", anchor_text(point), time, key.verifying().id());
  const Ed25519Signature signature = CELLBLOCK_TRY(key.sign(signed_text(line)));
  line.append(" ").append(signature_text(signature));
  return SignedAnchor{point, time, std::move(line)};
}

SignedAnchors check_signed_anchors(std::string_view text, const VerifyingKey& key) {
  SignedAnchors found;
  std::uint64_t number = 0;
  const auto add = [&](std::string_view line) {
    ++number;
    auto read = read_line(line, key);
    const Result<void> order = read ? check_order(found.anchors, read->point) : Result<void>();
    if (!read) return found.problems.push_back({number, std::move(read.error().text)});
    if (!order) return found.problems.push_back({number, order.error().text});
    found.anchors.push_back(*std::move(read));
  };
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    add(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (!text.empty())
    found.problems.push_back({number + 1, "the line is cut off: its end is missing"});
  if (number == 0 && text.empty()) found.problems.push_back({0, "it holds no signed anchor"});
  return found;
}

bool has_signed_anchors(std::string_view text) {
  return text.substr(0, text.find('\n')).contains(' ');
}

}  // namespace cellblock::audit
