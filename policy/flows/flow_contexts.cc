#include "policy/flows/flow_contexts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::array remembered{FlowLabel::untrusted, FlowLabel::private_data};

std::string text_of(const FlowOrigin& origin) {
  if (origin.server.empty()) return "something before cellblock's gateway was started again";
  return fmt::format("\"{}\" of {} (session {}, call {})", origin.name, origin.server,
                     origin.session, origin.call);
}

// The server chooses the name, and a person reads it in quotes: it must not end them.
std::string origin_name(std::string_view name) {
  std::string text = printable(name, FlowContexts::longest_name);
  std::ranges::replace(text, '"', '\'');
  return text;
}

}  // namespace

void FlowContexts::join(std::uint64_t session, std::string_view context, Entry entry, Instant now,
                        std::optional<FlowPerson> person) {
  forget_old(now);
  leave(session, now);
  const bool is_full = contexts_.size() >= most && !contexts_.contains(context);
  std::string name(is_full ? std::string_view{} : context);
  Context& joined = begun(name);
  if (entry == Entry::resumed) joined.labels = joined.unread = FlowLabels::all();
  joined.has_others |= is_full;
  ++joined.sessions;
  members_.insert_or_assign(session, Member{std::move(name), std::move(person)});
}

void FlowContexts::leave(std::uint64_t session, Instant now) {
  const auto found = members_.find(session);
  if (found == members_.end()) return;
  Context& left = contexts_[found->second.context];
  if (--left.sessions == 0) left.left = now;
  members_.erase(found);
}

FlowLabels FlowContexts::take(const FlowStep& step, FlowLabels brings) {
  FlowLabels fresh;
  Context& context = context_of(step.session);
  for (const FlowLabel label : remembered) {
    if (!brings.has(label)) continue;
    if (!follows_text(rules_, label)) context.unread.add(label);
    if (context.labels.has(label)) continue;
    fresh.add(label);
    context.labels.add(label);
    context.origins.at(static_cast<std::size_t>(label)) = {
        std::string(step.server), origin_name(step.name), step.session, step.call};
  }
  return fresh;
}

void FlowContexts::read(std::uint64_t session, FlowLabels brings, std::string_view json) {
  for (const FlowLabel label : remembered) {
    if (!brings.has(label) || !follows_text(rules_, label)) continue;
    context_of(session).texts.at(static_cast<std::size_t>(label)).add_json(json);
  }
}

/// Whether a call's arguments may repeat a context's texts. What is not known of these counts as
/// repeated. They are compared once, however many rules ask.
class FlowContexts::Repeats {
 public:
  Repeats(const Context& context, std::string_view arguments)
      : context_(context), arguments_(arguments) {}

  bool any_of(FlowLabels after) {
    return std::ranges::any_of(
        remembered, [&](FlowLabel label) { return after.has(label) && is_repeated(label); });
  }

 private:
  bool is_repeated(FlowLabel label) {
    if (context_.unread.has(label)) return true;
    const auto index = static_cast<std::size_t>(label);
    std::optional<bool>& answer = answers_.at(index);
    if (!answer) answer = context_.texts.at(index).is_in_json(arguments_);
    return *answer;
  }

  const Context& context_;
  std::string_view arguments_;
  std::array<std::optional<bool>, 2> answers_;  ///< by FlowLabel
};

std::optional<FlowVerdict> FlowContexts::judge(const FlowCall& call) const {
  const Context* context = is_off(rules_) ? nullptr : known_context(call.session);
  if (context == nullptr || context->labels.empty()) return std::nullopt;
  const FlowPerson* person = person_of(call.session);
  Repeats repeats(*context, call.arguments);
  auto strictest = strictest_rule(rules_, [&](const FlowRule& rule) {
    return context->labels.has_all(rule.after) && concerns(rule, call.target, person) &&
           (!rule.copied || repeats.any_of(rule.after));
  });
  if (!strictest) return std::nullopt;
  std::string why = reason(*context, *strictest, call.target.labels);
  return FlowVerdict{*std::move(strictest), std::move(why)};
}

// The sentence is the same as long as the context has the labels, so that an approval's text does
// not change while it waits.
std::string FlowContexts::reason(const Context& context, const FlowRule& rule, FlowLabels of_call) {
  std::vector<std::string> came;
  for (const FlowLabel label : remembered) {
    if (!rule.after.has(label)) continue;
    came.push_back(fmt::format("{} {}from {}", content_text(label), came.empty() ? "came " : "",
                               text_of(context.origins.at(static_cast<std::size_t>(label)))));
  }
  return fmt::format("{}, after {}{}", ability_text(rule.before, of_call), fmt::join(came, " and "),
                     rule.copied ? ", and its arguments may repeat what was read" : "");
}

const FlowContexts::Context* FlowContexts::known_context(std::uint64_t session) const {
  const auto member = members_.find(session);
  const auto found =
      contexts_.find(member == members_.end() ? std::string() : member->second.context);
  return found == contexts_.end() ? nullptr : &found->second;
}

const FlowPerson* FlowContexts::person_of(std::uint64_t session) const {
  const auto member = members_.find(session);
  return member == members_.end() || !member->second.person ? nullptr : &*member->second.person;
}

// An unknown session is in the unnamed context.
FlowContexts::Context& FlowContexts::context_of(std::uint64_t session) {
  const auto found = members_.find(session);
  return contexts_[found == members_.end() ? std::string() : found->second.context];
}

FlowContexts::Context& FlowContexts::begun(const std::string& name) {
  const auto [found, is_new] = contexts_.try_emplace(name);
  const auto unnamed = contexts_.find(std::string_view{});
  if (is_new && unnamed != contexts_.end() && unnamed->second.has_others) {
    found->second.labels = unnamed->second.labels;
    found->second.origins = unnamed->second.origins;
    found->second.unread = unnamed->second.labels;
  }
  return found->second;
}

void FlowContexts::forget_old(Instant now) {
  std::erase_if(contexts_, [&](const auto& entry) {
    const Context& context = entry.second;
    return context.sessions == 0 && context.left && now - *context.left >= lingers;
  });
}

}  // namespace cellblock
