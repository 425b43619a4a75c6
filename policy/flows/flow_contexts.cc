#include "policy/flows/flow_contexts.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::array remembered{FlowLabel::untrusted, FlowLabel::private_data};

std::string text_of(const FlowOrigin& origin) {
  if (origin.server.empty()) return "something before cellblock's gateway was started again";
  return fmt::format("\"{}\" of {} (session {}, call {})", origin.name, origin.server,
                     origin.session, origin.call);
}

// A server chooses it, and a person reads it in a sentence: it stays between its quotes.
std::string origin_name(std::string_view name) {
  std::string text = printable(name, FlowContexts::longest_name);
  std::ranges::replace(text, '"', '\'');
  return text;
}

}  // namespace

void FlowContexts::join(std::uint64_t session, std::string_view context, Entry entry, Instant now) {
  forget_old(now);
  leave(session, now);
  const bool is_full = contexts_.size() >= most && !contexts_.contains(context);
  std::string name(is_full ? std::string_view{} : context);
  Context& joined = begun(name);
  if (entry == Entry::resumed) joined.labels = FlowLabels::all();
  joined.has_others |= is_full;
  ++joined.sessions;
  names_.insert_or_assign(session, std::move(name));
}

void FlowContexts::leave(std::uint64_t session, Instant now) {
  const auto found = names_.find(session);
  if (found == names_.end()) return;
  Context& left = contexts_[found->second];
  if (--left.sessions == 0) left.left = now;
  names_.erase(found);
}

FlowLabels FlowContexts::take(const FlowStep& step, FlowLabels brings) {
  FlowLabels fresh;
  Context& context = context_of(step.session);
  for (const FlowLabel label : remembered) {
    if (!brings.has(label) || context.labels.has(label)) continue;
    fresh.add(label);
    context.labels.add(label);
    context.origins.at(static_cast<std::size_t>(label)) = {
        std::string(step.server), origin_name(step.name), step.session, step.call};
  }
  return fresh;
}

std::optional<std::string> FlowContexts::trifecta(std::uint64_t session, FlowLabels of_call) const {
  const auto name = names_.find(session);
  const auto found = contexts_.find(name == names_.end() ? std::string() : name->second);
  if (found == contexts_.end() || !of_call.has(FlowLabel::egress)) return std::nullopt;
  const Context& context = found->second;
  const bool is_both =
      context.labels.has(FlowLabel::untrusted) && context.labels.has(FlowLabel::private_data);
  if (!is_both) return std::nullopt;
  return fmt::format(
      "it can send to others, after untrusted content came from {} and private "
      "data from {}",
      text_of(context.origins[0]), text_of(context.origins[1]));
}

// One that no session has said anything about is the one without a name.
FlowContexts::Context& FlowContexts::context_of(std::uint64_t session) {
  const auto found = names_.find(session);
  return contexts_[found == names_.end() ? std::string() : found->second];
}

FlowContexts::Context& FlowContexts::begun(const std::string& name) {
  const auto [found, is_new] = contexts_.try_emplace(name);
  const auto unnamed = contexts_.find(std::string_view{});
  if (is_new && unnamed != contexts_.end() && unnamed->second.has_others) {
    found->second.labels = unnamed->second.labels;
    found->second.origins = unnamed->second.origins;
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
