#include "client/cli/tool_rows/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <utility>

#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"
#include "client/cli/watch/page.h"
#include "client/cli/watch/screen.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What runs and what it uses, as it changes.
namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds answer_time{10};

struct TopRequest {
  std::string server;  ///< empty: all
  std::chrono::milliseconds interval{1'000};
  TopOrder order = TopOrder::cpu;
};

TopRequest top_request(const Words& words) {
  static const std::map<std::string, TopOrder> orders{{"cpu", TopOrder::cpu},
                                                      {"memory", TopOrder::memory},
                                                      {"calls", TopOrder::calls},
                                                      {"name", TopOrder::name}};
  return {.server = words.text(server_name),
          .interval = words.time(interval_option),
          .order = orders.at(words.text(sort_option))};
}

client::Result<Sample> ask(client::Client& connection, const std::string& server) {
  const auto answer = CELLBLOCK_TRY(
      connection.request(control_method::status, "{}", {.timeout = answer_time, .stop = {}}));
  auto sample = read_sample(answer);
  if (!sample) {
    return std::unexpected(client::Error{.code = client::ErrorCode::protocol,
                                         .text = "the daemon's status cannot be read"});
  }
  if (server.empty()) return std::move(*sample);
  std::erase_if(sample->servers, [&](const ServerSample& one) { return one.name != server; });
  if (!sample->servers.empty()) return std::move(*sample);
  return std::unexpected(
      client::Error{.code = client::ErrorCode::refused,
                    .text = fmt::format("there is no server \"{}\" for this user", server),
                    .failure = "not_allowlisted"});
}

Json json_of(const TopRow& row) {
  Json json{{"name", row.name}, {"state", row.state}, {"cells", row.cells}};
  if (row.cpu_percent) json["cpu_percent"] = *row.cpu_percent;
  if (row.memory_bytes) json["memory_bytes"] = *row.memory_bytes;
  json["calls"] = row.calls;
  if (row.calls_per_second) json["calls_per_second"] = *row.calls_per_second;
  json["refused"] = row.refused;
  if (!row.last_failure.empty()) json["last_failure"] = row.last_failure;
  return json;
}

Exit print_once(const Context& context, const std::vector<TopRow>& rows) {
  if (context.output == Output::json) {
    Json list = Json::array();
    for (const TopRow& row : rows) list.push_back(json_of(row));
    return print_json(dumped(Json{{"servers", std::move(list)}}));
  }
  for (const PageLine& line : top_table(rows, terminal_width())) fmt::print("{}\n", line.text);
  return Exit::ok;
}

// Two samples, since a rate needs them.
Exit show_once(const Context& context, const TopRequest& request) {
  auto connection = open(context);
  if (!connection) return explain(context, connection.error());
  const auto before = ask(*connection, request.server);
  if (!before) return explain(context, before.error());
  static_cast<void>(connection->serve_for(request.interval));
  const auto now = ask(*connection, request.server);
  if (!now) return explain(context, now.error());
  auto rows = top_rows(&*before, *now);
  sort_rows(rows, request.order);
  return print_once(context, rows);
}

/// What is on the screen, and what keys do to it.
class Top {
 public:
  Top(Screen& screen, TopOrder order) : screen_(screen) { page_.order = order; }

  void show(Sample now) {
    page_.headline = now.headline;
    page_.rows = top_rows(before_ ? &*before_ : nullptr, now);
    before_ = std::move(now);
    draw();
  }

  /// False: to the end.
  bool obey(Key key) {
    const PageSize size = screen_.size();
    const std::size_t room = std::max<std::size_t>(size.lines / 2, 1);
    switch (key) {
      case Key::quit:
        return false;
      case Key::none:
        return true;
      case Key::sort:
        page_.order = next_order(page_.order);
        break;
      case Key::up:
        page_.first -= std::min<std::size_t>(page_.first, 1);
        break;
      case Key::down:
        page_.first += 1;
        break;
      case Key::page_up:
        page_.first -= std::min(page_.first, room);
        break;
      case Key::page_down:
        page_.first += room;
        break;
      case Key::resized:
        break;
    }
    draw();
    return true;
  }

 private:
  void draw() {
    const PageSize size = screen_.size();
    page_.first = std::min(page_.first, last_first(page_.rows.size(), size));
    sort_rows(page_.rows, page_.order);
    screen_.draw(top_page(page_, size));
  }

  Screen& screen_;
  TopPage page_;
  std::optional<Sample> before_;
};

client::Result<void> run_until_quit(Screen& screen, client::Client& connection,
                                    const TopRequest& request) {
  Top top(screen, request.order);
  while (true) {
    const auto due = Clock::now() + request.interval;
    top.show(CELLBLOCK_TRY(ask(connection, request.server)));
    while (Clock::now() < due) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
      if (!top.obey(screen.wait_for_key(left))) return {};
    }
    if (Screen::signalled() != 0) return {};
  }
}

// As without us: whoever started the command sees by which signal it ended.
Exit end_as_told() {
  const int signal = Screen::signalled();
  if (signal == 0) return Exit::ok;
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
  return Exit::error;
}

Exit not_here(const char* why) {
  fmt::print(stderr, "cellblock: {}: \"cellblock status --watch --once\" prints one table\n", why);
  return Exit::usage;
}

}  // namespace

Exit run_top(const Context& context, const Words& words) {
  const auto request = top_request(words);
  if (words.has(once_option)) return show_once(context, request);
  if (::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1) {
    return not_here("stdin and stdout are no terminal");
  }
  if (context.output == Output::json) return not_here("a live table is no JSON");
  auto connection = open(context);
  if (!connection) return explain(context, connection.error());
  auto screen = Screen::open();
  if (!screen) return not_here("this terminal is not known (TERM)");
  const auto ended = run_until_quit(*screen, *connection, request);
  screen.reset();
  return ended ? end_as_told() : explain(context, ended.error());
}

}  // namespace cellblock::cli
