#include "client/cli/watch/screen.h"

#include <curses.h>
#include <langinfo.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace cellblock::cli {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};
constexpr int escape_wait_ms = 25;

volatile std::sig_atomic_t ending_signal = 0;

void remember(int signal) { ending_signal = signal; }

// Without SA_RESTART: whoever waits for a key is to wake up.
void catch_signals() {
  struct sigaction action{};
  action.sa_handler = remember;
  for (const int signal : ending_signals) ::sigaction(signal, &action, nullptr);
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr && *value != '\0';
}

short number_of(Colour colour) {
  switch (colour) {
    case Colour::good:
      return COLOR_GREEN;
    case Colour::bad:
      return COLOR_RED;
    case Colour::weak:
      return COLOR_YELLOW;
    case Colour::plain:
      break;
  }
  return 0;
}

bool set_up_colours() {
  if (is_set("NO_COLOR") || !has_colors() || start_color() == ERR) return false;
  const short background = use_default_colors() == OK ? short{-1} : short{COLOR_BLACK};
  for (const Colour colour : {Colour::good, Colour::bad, Colour::weak}) {
    init_pair(number_of(colour), number_of(colour), background);
  }
  return true;
}

Key key_of(int pressed) {
  switch (pressed) {
    case 'q':
    case 'Q':
      return Key::quit;
    case 's':
    case 'S':
      return Key::sort;
    case KEY_UP:
      return Key::up;
    case KEY_DOWN:
      return Key::down;
    case KEY_PPAGE:
      return Key::page_up;
    case KEY_NPAGE:
      return Key::page_down;
    case KEY_RESIZE:
      return Key::resized;
    default:
      return Key::none;
  }
}

}  // namespace

struct Screen::Terminal {
  SCREEN* screen = nullptr;
  bool colours = false;
  bool is_utf8 = false;
};

Screen::Screen(std::unique_ptr<Terminal> terminal) : terminal_(std::move(terminal)) {}

std::unique_ptr<Screen> Screen::open() {
  auto terminal = std::make_unique<Terminal>();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  static_cast<void>(std::setlocale(LC_CTYPE, ""));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): likewise
  terminal->is_utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  catch_signals();  // before ncurses, which else ends the process by itself
  terminal->screen = newterm(nullptr, stdout, stdin);
  if (terminal->screen == nullptr) return nullptr;
  terminal->colours = set_up_colours();
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  keypad(stdscr, true);
  set_escdelay(escape_wait_ms);
  return std::unique_ptr<Screen>(new Screen(std::move(terminal)));
}

Screen::~Screen() {
  endwin();
  delscreen(terminal_->screen);
}

PageSize Screen::size() const {
  return {.lines = static_cast<std::size_t>(std::max(getmaxy(stdscr), 0)),
          .columns = static_cast<std::size_t>(std::max(getmaxx(stdscr), 0))};
}

// From the top on: what is wider than it counts as (East Asian characters) runs into the next line,
// which is written over it.
void Screen::draw(const std::vector<PageLine>& lines) {
  werase(stdscr);
  int y = 0;
  for (const PageLine& line : lines) {
    const bool is_heading = line.emphasis == Emphasis::heading;
    wmove(stdscr, y++, 0);
    wclrtoeol(stdscr);
    if (is_heading) wattr_on(stdscr, A_REVERSE, nullptr);
    if (terminal_->colours) wcolor_set(stdscr, number_of(line.colour), nullptr);
    const std::string text = terminal_->is_utf8 ? line.text : ascii_of(line.text);
    waddnstr(stdscr, text.c_str(), static_cast<int>(text.size()));
    wattr_set(stdscr, A_NORMAL, 0, nullptr);
  }
  wrefresh(stdscr);
}

Key Screen::wait_for_key(std::chrono::milliseconds patience) {
  wtimeout(stdscr, static_cast<int>(std::max<std::int64_t>(patience.count(), 0)));
  const int pressed = wgetch(stdscr);
  return signalled() != 0 ? Key::quit : key_of(pressed);
}

int Screen::signalled() { return ending_signal; }

}  // namespace cellblock::cli
