#include "supervisor/gateway/catalogue/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/mcp/lists.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/catalogue/survey_talk.h"
#include "supervisor/gateway/message/failures.h"
#include "supervisor/gateway/message/tree_reader.h"

namespace cellblock::gateway {

Survey::Survey(const Server& server, const CatalogueRules& rules, SurveyEffects& effects)
    : server_(server), rules_(rules), effects_(effects), pages_(rules.max_bytes) {}

void Survey::begin(Time now) {
  ends_ = now + rules_.survey;
  start(server_.era == ServerEra::legacy ? State::initializing : State::asking, now);
}

void Survey::start(State state, Time now) {
  state_ = state;
  running_ = false;
  effects_.start_cell();
  set_deadline(now);
}

// The probe's own clock starts when the program runs: a slow start of the cell is no silence.
void Survey::set_deadline(Time now) {
  const bool probing = state_ == State::asking && running_ && server_.era == ServerEra::automatic;
  const Time end = probing ? std::min(ends_, probe_ends_) : ends_;
  const auto left = std::chrono::ceil<Milliseconds>(end - now);
  effects_.set_deadline(std::max(left, Milliseconds{0}));
}

void Survey::cell_running(Time now) {
  running_ = true;
  if (state_ == State::asking) {
    probe_ends_ = now + rules_.era_probe;
    effects_.to_cell(discover_request(++asked_));
  } else if (state_ == State::initializing) {
    effects_.to_cell(initialize_request(++asked_));
  }
  set_deadline(now);
}

bool Survey::owns(std::string_view id) const {
  return running_ && state_ != State::done && id == fmt::format("{}", asked_);
}

void Survey::from_cell(std::string_view line, const Message& message, Time now) {
  if (!running_ || state_ == State::done || state_ == State::between) return;
  switch (message.kind) {
    case MessageKind::notification:
      return;
    case MessageKind::request:
      return effects_.to_cell(answer_to_server(message.method, message.id.in(line)));
    case MessageKind::result:
    case MessageKind::error:
      if (owns(message.id.in(line))) answered(line, message, now);
      return;
  }
}

void Survey::answered(std::string_view line, const Message& message, Time now) {
  switch (state_) {
    case State::asking:
      return discover_answered(line, message, now);
    case State::initializing:
      return initialize_answered(line, message, now);
    case State::listing:
      return list_answered(line, message, now);
    case State::between:
    case State::done:
      return;
  }
}

void Survey::discover_answered(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::result)
    return introduced(Era::modern, message.result.in(line), now);
  const std::string_view error = message.error.in(line);
  if (era_hint(error) == EraHint::unknown) {
    return fail("speaks no revision of MCP that cellblock knows: " + error_text(error));
  }
  // It refused a question of the very revision that it names: there is nothing to ask it.
  if (era_hint(error) == EraHint::modern) {
    return fail("answered server/discover with " + error_text(error));
  }
  is_not_modern("answered server/discover with " + error_text(error), now);
}

void Survey::initialize_answered(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::error) {
    return fail("answered initialize with " + error_text(message.error.in(line)));
  }
  introduced(Era::legacy, message.result.in(line), now);
}

void Survey::introduced(Era era, std::string_view result, Time now) {
  auto catalogue = read_introduction(era, result, findings_);
  if (!catalogue && era == Era::modern) {
    return is_not_modern("answered server/discover without 2026-07-28 in supportedVersions", now);
  }
  if (!catalogue) return fail("answered initialize with a revision that cellblock does not know");
  catalogue_ = std::move(*catalogue);
  if (era == Era::legacy) effects_.to_cell(initialized_notification());
  pages_.want_what_is_promised(read_tree(catalogue_.capabilities));
  state_ = State::listing;
  next_page(now);
}

void Survey::next_page(Time now) {
  const auto page = pages_.next();
  if (!page) return finish();
  effects_.to_cell(list_request(++asked_, catalogue_.era, *page));
  set_deadline(now);
}

void Survey::list_answered(std::string_view line, const Message& message, Time now) {
  const ListKind kind = pages_.next()->kind;
  if (message.kind == MessageKind::error) {
    // Many promise `resources` and have no templates. Without its tools a catalogue would mislead.
    if (kind == ListKind::tools) {
      return fail("answered tools/list with " + error_text(message.error.in(line)));
    }
    pages_.skip();
    return next_page(now);
  }
  switch (pages_.take(message.result.in(line))) {
    case ListPages::Taken::good:
      return next_page(now);
    case ListPages::Taken::too_many_bytes:
      return fail(
          fmt::format("offers more than the {} bytes of catalogue.max_bytes", rules_.max_bytes));
    case ListPages::Taken::no_list:
      return fail(fmt::format("answered {} without a list", mcp::facts_of(kind).method));
  }
}

// Whatever it was: an error, silence, or its end.
void Survey::is_not_modern(std::string_view because, Time now) {
  if (server_.era == ServerEra::modern) return fail(because);
  state_ = State::between;
  running_ = false;
  findings_ = {};
  effects_.stop_cell();
  set_deadline(now);
}

void Survey::cell_over(Time now) {
  if (state_ == State::between) start(State::initializing, now);
}

void Survey::answer_lost(const Failure& failure, Time now) {
  if (state_ == State::asking && running_) return is_not_modern(failure.message, now);
  if (state_ != State::done && state_ != State::between) fail_with(failure);
}

void Survey::cell_gone(const Failure& failure, Time now) {
  if (state_ == State::done || state_ == State::between) return;
  if (state_ == State::asking && running_) return is_not_modern(failure.message, now);
  fail_with(failure);
}

void Survey::deadline(Time now) {
  if (state_ == State::done) return;
  if (now < ends_ && state_ == State::asking && running_ && now >= probe_ends_) {
    return is_not_modern("did not answer server/discover", now);
  }
  if (now < ends_) return set_deadline(now);
  fail(fmt::format("did not come to an end of {} within catalogue.survey_timeout", waiting_for()),
       FailureCode::handshake_timeout);
}

std::string_view Survey::waiting_for() const {
  switch (state_) {
    case State::asking:
      return mcp::method::discover;
    case State::between:
      return "its first cell";
    case State::initializing:
      return mcp::method::initialize;
    case State::listing:
    case State::done:
      break;
  }
  const auto page = pages_.next();
  return page ? mcp::facts_of(page->kind).method : "its lists";
}

void Survey::finish() {
  state_ = State::done;
  findings_.add(pages_.finish(catalogue_));
  effects_.set_deadline(std::nullopt);
  effects_.stop_cell();
  effects_.found({std::move(catalogue_), findings_});
}

void Survey::fail(std::string_view cause, FailureCode code) {
  fail_with(plain_failure(
      code, fmt::format("what \"{}\" offers could not be found out: it {}", server_.name, cause),
      server_.name));
}

void Survey::fail_with(const Failure& failure) {
  state_ = State::done;
  effects_.set_deadline(std::nullopt);
  effects_.stop_cell();
  effects_.failed(failure);
}

}  // namespace cellblock::gateway
