#include "policy/audit/log_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "policy/audit/chain.h"

namespace cellblock::audit {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_gateways = 100'000;
// The supervisor tells before the gateway can, but by a channel of its own.
constexpr std::uint64_t latest_visit = 4'096;

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

// "accepted by uid 0": 0. A gateway says so of pins and approvals.
std::optional<std::uint64_t> uid_in(std::string_view reason) {
  constexpr std::string_view before = "by uid ";
  const std::size_t at = reason.rfind(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = reason.substr(at + before.size());
  std::uint64_t uid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), uid);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return uid;
}

std::string lines_text(std::uint64_t first, std::uint64_t last) {
  if (first == last) return fmt::format("the line with seq {} is missing", first);
  return fmt::format("the lines with seq {} to {} are missing", first, last);
}

}  // namespace

struct LogVerifier::Known {
  bool is_json = false;
  std::string kind;
  std::string previous;
  std::uint64_t torn_bytes = 0;
  std::string torn_sha256;
  std::string gateway;
  std::uint64_t number = 0;
  std::uint64_t uid = 0;
  std::string tool;
  std::string reason;
  std::string text;
  std::uint64_t format = 0;

  explicit Known(std::string_view whole_line) {
    const Json json = Json::parse(whole_line, nullptr, false);
    if (!json.is_object()) return;
    is_json = true;
    kind = text_of(json, "kind");
    previous = text_of(json, "previous");
    torn_bytes = number_of(json, "torn_bytes");
    torn_sha256 = text_of(json, "torn_sha256");
    gateway = text_of(json, "gateway");
    number = number_of(json, "n");
    uid = number_of(json, "uid");
    format = number_of(json, "format");
    if (kind != "pin" && kind != "approval" && kind != "switched") return;
    tool = text_of(json, "tool");
    reason = text_of(json, "reason");
    text = text_of(json, "text");
  }

  bool opens() const { return kind == "log_opened"; }
};

void LogVerifier::find(Grade grade, std::string what) {
  if (grade == Grade::broken) ++report_.broken;
  if (grade == Grade::lost) ++report_.lost;
  if (report_.findings.size() >= most_findings) {
    ++report_.more_findings;
    return;
  }
  report_.findings.push_back({grade, file_, line_, std::move(what)});
}

void LogVerifier::found_break(std::string what) { find(Grade::broken, std::move(what)); }

void LogVerifier::begin_file(std::string name) {
  file_ = std::move(name);
  line_ = 0;
  ++report_.files;
}

void LogVerifier::line(std::string_view text) {
  ++line_;
  const auto sealed = sealed_line(text);
  if (!sealed) return rest(std::string(text) + "\n");
  const Known known(text);
  if (report_.first == 0) {
    report_.first = sealed->sequence;
    knows_all_gateways_ = sealed->sequence == 1;
  }
  if (known.opens()) {
    check_opening();
    tells_visits_ = known.format >= 2;
  }
  check_torn(known);
  check_link(*sealed, known);
  check_gateway(known);
  check_word(known);
  check_anchor({sealed->sequence, sealed->hash});
  closed_ = known.kind == "log_closed";
  has_former_ = true;
  report_.last = {sealed->sequence, sealed->hash};
  ++report_.lines;
}

void LogVerifier::rest(std::string_view bytes) {
  if (bytes.empty()) return;
  if (torn_.empty()) torn_at_ = line_;
  if (torn_.size() < longest_torn) torn_ += bytes.substr(0, longest_torn - torn_.size());
}

// Only a writer that finds torn bytes may speak of them, and says what they were.
void LogVerifier::check_torn(const Known& known) {
  std::string torn = std::exchange(torn_, {});
  if (!torn.empty() && torn.back() == '\n') torn.pop_back();
  if (torn.empty() && (!known.opens() || known.torn_bytes == 0)) return;
  const Sha256 digest = sha256(torn);
  const bool told =
      known.opens() && known.torn_bytes == torn.size() && known.torn_sha256 == hex_of(digest);
  if (told) {
    return find(Grade::interrupted,
                fmt::format("{} bytes before this line are a torn one, as the writer that came "
                            "next has marked it",
                            torn.size()));
  }
  excused_ = true;
  if (torn.empty()) return found_break("the torn line that this one speaks of is not there");
  found_break(
      fmt::format("{} bytes before this line, from line {} on, are no whole line and not "
                  "what a writer left: altered, or put there",
                  torn.size(), torn_at_));
}

void LogVerifier::check_opening() {
  ++writers_;
  if (!has_former_ || closed_) return;
  find(Grade::interrupted,
       "the writer before this line ended without closing the log: it was killed, or could not "
       "write");
}

void LogVerifier::check_link(const SealedLine& sealed, const Known& known) {
  const bool excused = std::exchange(excused_, false);
  const auto instead = std::exchange(instead_, std::nullopt);
  Sha256 former = report_.last.hash;
  if (!has_former_) {
    const auto told = digest_of_hex(known.previous);
    if (!known.opens() || !told) {
      instead_.reset();
      return found_break(
          "the log begins in the middle: what came before this line in its file is "
          "missing");
    }
    former = *told;
    if (sealed.sequence > 1) check_anchor({sealed.sequence - 1, former});
    if (sealed.sequence == 1 && former != Sha256{}) found_break("the first line has a former one");
  }
  const Sha256 expected = chained(former, sealed.body);
  const bool is_next = !has_former_ || (sealed.sequence > report_.last.sequence &&
                                        sealed.sequence - report_.last.sequence == 1);
  if (expected == sealed.hash && is_next) return;
  if (instead && chained(*instead, sealed.body) == sealed.hash && is_next) return;
  instead_ = expected;
  if (!excused) explain_break(sealed);
}

void LogVerifier::explain_break(const SealedLine& sealed) {
  const std::uint64_t last = report_.last.sequence;
  if (has_former_ && sealed.sequence > last + 1) {
    return found_break(lines_text(last + 1, sealed.sequence - 1) + " before this one");
  }
  if (has_former_ && sealed.sequence <= last) {
    return found_break(
        fmt::format("seq {} comes after {}: copied, or put out of order", sealed.sequence, last));
  }
  found_break("its hash is not that of its bytes: it was altered");
}

// A gateway numbers its records itself, and they come to one writer in that order. What it sends
// again to a new writer may be there already: as much as the former one wrote without having said
// so. Where lines are missing, that was said.
void LogVerifier::check_gateway(const Known& known) {
  if (known.gateway.empty()) return;
  if (gateways_.size() >= most_gateways) {
    gateways_.clear();
    knows_all_gateways_ = false;
  }
  const auto [place, is_new] = gateways_.try_emplace(known.gateway);
  Gateway& gateway = place->second;
  const Gateway former = std::exchange(gateway, {.last = std::max(gateway.last, known.number),
                                                 .latest = known.number,
                                                 .writer = writers_,
                                                 .break_count = report_.broken});
  const bool excused =
      is_new ? !knows_all_gateways_ || report_.broken > 0 : former.break_count != report_.broken;
  if (excused || known.number == former.last + 1) return;
  if (known.number <= former.last) {
    if (former.writer != writers_ || known.number > former.latest) return;
    return find(Grade::broken, fmt::format("record {} of gateway {} comes a second time",
                                           known.number, known.gateway));
  }
  find(Grade::lost, fmt::format("records {} to {} of gateway {} (uid {}) never reached the log",
                                former.last + 1, known.number - 1, known.gateway, known.uid));
}

// What an administrator did is told by the gateway, which may have been taken over. That he was
// there is told by the supervisor.
void LogVerifier::check_word(const Known& known) {
  const auto by = uid_in(known.reason);
  if (!by || visits_.size() >= most_gateways || words_.size() >= most_gateways) return;
  const std::uint64_t sequence = report_.last.sequence + 1;
  if (known.kind == "switched") {
    if (known.tool != admin_connected || !known.text.starts_with(gateway_beginning)) return;
    constexpr std::size_t name_size = 16;
    visits_.try_emplace({known.text.substr(gateway_beginning.size(), name_size), *by}, sequence);
    return;
  }
  // A user's own word comes by no administrator's connection.
  if (!tells_visits_ || *by == known.uid) return;
  Visit visit{known.gateway, *by};
  if (visits_.contains(visit)) return;
  words_.try_emplace(
      std::move(visit),
      Word{file_, line_, sequence,
           fmt::format("gateway {} (uid {}) says \"{}\", but the supervisor tells of no "
                       "connection of uid {} to it",
                       known.gateway, known.uid, known.reason, *by)});
}

void LogVerifier::name_unbacked_words() {
  // What was told of it may have made room for newer lines.
  const Grade grade = knows_all_gateways_ ? Grade::broken : Grade::interrupted;
  for (auto& [visit, word] : words_) {
    const auto seen = visits_.find(visit);
    if (seen != visits_.end() && seen->second <= word.sequence + latest_visit) continue;
    file_ = std::move(word.file);
    line_ = word.line;
    find(grade, std::move(word.what));
  }
}

void LogVerifier::check_anchor(const ChainPoint& line) {
  const auto named = std::ranges::equal_range(anchors_, line.sequence, {}, &ChainPoint::sequence);
  if (named.empty()) return;
  if (named.end() == anchors_.end()) last_anchor_met_ = true;
  if (std::ranges::any_of(named, [&](const ChainPoint& p) { return p.hash != line.hash; })) {
    found_break(
        fmt::format("the line with seq {} is not the one that the anchor names: the log was "
                    "written anew",
                    line.sequence));
  }
}

LogReport LogVerifier::finish() {
  check_end();
  name_unbacked_words();
  return std::move(report_);
}

void LogVerifier::check_end() {
  if (torn_.ends_with('\n')) {
    found_break("the log ends with what is no line of it: altered, or put there");
  } else if (!torn_.empty()) {
    find(Grade::interrupted,
         fmt::format("the last {} bytes are no whole line: its writer was killed or could not "
                     "write, or is writing it now",
                     torn_.size()));
  }
  check_last_anchor();
}

// Of an earlier one the lines' numbers tell whether it is missing.
void LogVerifier::check_last_anchor() {
  if (anchors_.empty() || last_anchor_met_) return;
  const std::uint64_t sequence = anchors_.back().sequence;
  const bool expected = sequence > 0 && (report_.first == 0 || sequence >= report_.first);
  if (expected) {
    return found_break(
        fmt::format("the line with seq {} that the anchor names is not there: the log ends at {}",
                    sequence, report_.last.sequence));
  }
  find(none_met_, fmt::format("the line with seq {} that the anchor names has made room for newer "
                              "ones: nothing shows that the log goes on from it",
                              sequence));
}

}  // namespace cellblock::audit
