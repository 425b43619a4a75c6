#include "supervisor/gateway/catalogue/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

Discovery::Discovery(const Server& server, const CatalogueRules& rules, const SurveyStart& start,
                     DiscoveryEffects& effects)
    : server_(server), rules_(rules), start_(start), effects_(effects), pages_(rules.max_bytes) {}

void Discovery::begin(Time now) {
  ends_ = now + rules_.survey;
  start(server_.era == ServerEra::legacy ? State::initializing : State::asking, now);
}

void Discovery::start(State state, Time now) {
  state_ = state;
  running_ = false;
  asked_at_ = now;
  effects_.start_cell();
  set_deadline(now);
}

void Discovery::start_another(State state, Time now) {
  state_ = State::between;
  next_ = state;
  running_ = false;
  findings_ = {};
  effects_.stop_cell();
  set_deadline(now);
}

// For an answer to server/discover. All there is where the server is known to have no `initialize`:
// then there is nothing else to ask it.
Milliseconds Discovery::patience() const {
  if (server_.era == ServerEra::modern || has_no_initialize_ || start_.known.legacy == Speaks::no) {
    return rules_.survey;
  }
  const bool is_patient =
      start_.known.modern == Speaks::yes || start_.hurry == SurveyStart::Hurry::nobody_waits;
  return is_patient ? std::max(rules_.era_probe, rules_.survey / 2) : rules_.era_probe;
}

// The probe's own clock starts when the program runs: a slow start of the cell is no silence.
void Discovery::set_deadline(Time now) {
  const bool probing = state_ == State::asking && running_;
  const Time end = probing ? std::min(ends_, probe_ends_) : ends_;
  const auto left = std::chrono::ceil<Milliseconds>(end - now);
  effects_.set_deadline(std::max(left, Milliseconds{0}));
}

void Discovery::ask(const std::string& request, Time now) {
  asked_at_ = now;
  effects_.to_cell(request);
  set_deadline(now);
}

void Discovery::cell_running(Time now) {
  running_ = true;
  if (state_ == State::asking) {
    probe_ends_ = now + patience();
    ask(discover_request(++asked_), now);
  } else if (state_ == State::initializing) {
    ask(initialize_request(++asked_), now);
  }
}

bool Discovery::owns(std::string_view id) const {
  return running_ && state_ != State::done && id == fmt::format("{}", asked_);
}

void Discovery::from_cell(std::string_view line, const Message& message, Time now) {
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

void Discovery::answered(std::string_view line, const Message& message, Time now) {
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

void Discovery::discover_answered(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::result)
    return introduced(Era::modern, message.result.in(line), now);
  const std::string_view error = message.error.in(line);
  if (era_hint(error) == EraHint::unknown) {
    return fail("speaks no revision of MCP that cellblock knows: " + error_text(error));
  }
  const std::string cause = "answered server/discover with " + error_text(error);
  // It refused a question of the very revision that it names: there is nothing to ask it.
  if (era_hint(error) == EraHint::modern) return fail(cause);
  if (server_.era == ServerEra::modern) {
    return fail_with(declared_era_refused(server_, mcp::method::discover, error_code(error)));
  }
  is_not_modern(failure_of(cause), ReadResult::something, now);
}

void Discovery::initialize_answered(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::error) return initialize_refused(message.error.in(line), now);
  introduced(Era::legacy, message.result.in(line), now);
}

// Who has no `initialize` and has not refused server/discover had not come up in time to answer it.
void Discovery::initialize_refused(std::string_view error, Time now) {
  const bool names_modern = era_hint(error) == EraHint::modern;
  const bool has_none = names_modern || error_code(error) == std::to_string(mcp::method_not_found);
  if (has_none && server_.era == ServerEra::legacy) {
    return fail_with(declared_era_refused(server_, mcp::method::initialize, error_code(error)));
  }
  const bool may_be_modern = names_modern || (has_none && to_discover_ == ReadResult::nothing);
  if (!may_be_modern) return fail("answered initialize with " + error_text(error));
  has_no_initialize_ = true;
  ends_ = now + rules_.survey;
  start_another(State::asking, now);
}

void Discovery::introduced(Era era, std::string_view result, Time now) {
  auto catalogue = read_introduction(era, result, findings_);
  if (!catalogue && era == Era::modern) {
    return is_not_modern(
        failure_of("answered server/discover without 2026-07-28 in supportedVersions"),
        ReadResult::something, now);
  }
  if (!catalogue) return fail("answered initialize with a revision that cellblock does not know");
  catalogue_ = std::move(*catalogue);
  if (era == Era::legacy) effects_.to_cell(initialized_notification());
  pages_.want_what_is_promised(read_tree(catalogue_.capabilities));
  state_ = State::listing;
  next_page(now);
}

void Discovery::next_page(Time now) {
  const auto page = pages_.next();
  if (!page) return finish();
  ask(list_request(++asked_, catalogue_.era, *page), now);
}

void Discovery::list_answered(std::string_view line, const Message& message, Time now) {
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
void Discovery::is_not_modern(const Failure& because, ReadResult heard, Time now) {
  if (server_.era == ServerEra::modern || has_no_initialize_) return fail_with(because);
  to_discover_ = heard;
  start_another(State::initializing, now);
}

void Discovery::cell_over(Time now) {
  if (state_ == State::between) start(next_, now);
}

void Discovery::answer_lost(const Failure& failure, Time now) {
  if (state_ == State::asking && running_)
    return is_not_modern(failure, ReadResult::something, now);
  if (state_ != State::done && state_ != State::between) fail_with(failure);
}

void Discovery::cell_gone(const Failure& failure, Time now) {
  if (state_ == State::done || state_ == State::between) return;
  if (state_ != State::asking || !running_) return fail_with(failure);
  // Its start.handshake_timeout was over first.
  const bool was_silent = failure.code == FailureCode::handshake_timeout;
  is_not_modern(failure, was_silent ? ReadResult::nothing : ReadResult::something, now);
}

void Discovery::deadline(Time now) {
  if (state_ == State::done) return;
  const Failure failure = failure_of(lateness(now), FailureCode::handshake_timeout);
  if (now < ends_ && state_ == State::asking && running_ && now >= probe_ends_) {
    return is_not_modern(failure, ReadResult::nothing, now);
  }
  if (now < ends_) return set_deadline(now);
  fail_with(failure);
}

std::string Discovery::lateness(Time now) const {
  const auto waited = std::chrono::duration_cast<Milliseconds>(now - asked_at_).count();
  const auto all = rules_.survey.count();
  if (state_ == State::between) {
    return fmt::format("had a cell that did not end; catalogue.survey_timeout is {} ms", all);
  }
  if (!running_) return fmt::format("was not running after {} ms", waited);
  return fmt::format(
      "is running but had not answered {} after {} ms; catalogue.survey_timeout is {} ms",
      waiting_for(), waited, all);
}

std::string_view Discovery::waiting_for() const {
  if (state_ == State::asking) return mcp::method::discover;
  if (state_ == State::initializing) return mcp::method::initialize;
  const auto page = pages_.next();
  return page ? mcp::facts_of(page->kind).method : "its lists";
}

void Discovery::finish() {
  state_ = State::done;
  findings_.add(pages_.finish(catalogue_));
  effects_.set_deadline(std::nullopt);
  effects_.stop_cell();
  Eras eras{.legacy = Speaks::yes, .modern = Speaks::unknown};
  if (to_discover_ == ReadResult::something) eras.modern = Speaks::no;
  if (catalogue_.era == Era::modern) {
    eras = {.legacy = has_no_initialize_ ? Speaks::no : start_.known.legacy, .modern = Speaks::yes};
  }
  effects_.found({std::move(catalogue_), findings_, eras});
}

Failure Discovery::failure_of(std::string_view cause, FailureCode code) const {
  CellWords words = effects_.words();
  Failure failure = plain_failure(code,
                                  fmt::format("what \"{}\" offers could not be found out: it {}{}",
                                              server_.name, cause, words.text),
                                  server_.name);
  failure.cause = cause;
  failure.stderr_tail = std::move(words.stderr_tail);
  if (code == FailureCode::handshake_timeout) failure.advice = std::move(words.advice);
  return failure;
}

void Discovery::fail(std::string_view cause) { fail_with(failure_of(cause)); }

void Discovery::fail_with(const Failure& failure) {
  state_ = State::done;
  effects_.set_deadline(std::nullopt);
  effects_.stop_cell();
  effects_.failed(failure);
}

}  // namespace cellblock::gateway
