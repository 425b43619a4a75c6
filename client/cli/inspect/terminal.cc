#include "client/cli/inspect/terminal.h"

#include <fmt/format.h>
#include <histedit.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <system_error>
#include <utility>

#include "client/cli/inspect/completion.h"

namespace cellblock::cli {

namespace asio = boost::asio;

namespace {

constexpr int remembered_lines = 500;

// libedit decodes what is typed as the locale says; without one only ASCII could be typed.
void use_locale_of_user() {
  const char* set = std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): one thread
  if (set != nullptr && MB_CUR_MAX > 1) return;
  (void)std::setlocale(LC_CTYPE, "C.UTF-8");  // NOLINT(concurrency-mt-unsafe): one thread
}

}  // namespace

struct Terminal::Impl {
  Impl(asio::io_context& where, Handlers chosen)
      : context(where), handlers(std::move(chosen)), input(where), signals(where, SIGINT) {}

  void prepare();
  void watch_input();
  void await_interrupt();
  TypedLine read_line(std::string text_of_prompt);
  int next_character(wchar_t* character);
  bool next_byte(char& byte);
  void await_input();
  unsigned char complete();
  void offer(const std::vector<std::string>& words) const;

  static Impl& of(EditLine* editor);
  static char* prompt_of(EditLine* editor) { return of(editor).prompt.data(); }
  static int get(EditLine* editor, wchar_t* c) { return of(editor).next_character(c); }
  static unsigned char complete_word(EditLine* editor, wint_t) { return of(editor).complete(); }

  struct EndHistory {
    void operator()(History* lines) const { ::history_end(lines); }
  };
  struct EndEditor {
    void operator()(EditLine* line) const { ::el_end(line); }
  };

  enum class Typing : std::uint8_t { nothing, command, answer };

  asio::io_context& context;
  Handlers handlers;
  asio::posix::stream_descriptor input;
  asio::signal_set signals;
  std::unique_ptr<History, EndHistory> history{::history_init()};
  std::unique_ptr<EditLine, EndEditor> editor;
  std::string prompt;
  Typing typing = Typing::nothing;
  bool readable = false;
  bool interrupted = false;
};

Terminal::Impl& Terminal::Impl::of(EditLine* editor) {
  Impl* impl = nullptr;
  ::el_get(editor, EL_CLIENTDATA, &impl);
  return *impl;
}

void Terminal::Impl::prepare() {
  use_locale_of_user();
  editor.reset(::el_init("cellblock", stdin, stdout, stderr));
  HistEvent event;
  ::history(history.get(), &event, H_SETSIZE, remembered_lines);
  ::history(history.get(), &event, H_SETUNIQUE, 1);
  ::el_set(editor.get(), EL_CLIENTDATA, this);
  ::el_set(editor.get(), EL_EDITOR, "emacs");
  ::el_set(editor.get(), EL_PROMPT, &Impl::prompt_of);
  ::el_set(editor.get(), EL_HIST, ::history, history.get());
  ::el_set(editor.get(), EL_GETCFN, &Impl::get);
  // The wide one: the other copies both texts and forgets them.
  ::el_wset(editor.get(), EL_ADDFN, L"complete-word", L"complete the word", &Impl::complete_word);
  ::el_set(editor.get(), EL_BIND, "^I", "complete-word", nullptr);
  ::el_source(editor.get(), nullptr);
  watch_input();
  await_interrupt();
}

// By way of an epoll descriptor of our own: Asio makes non-blocking what it waits for, and a
// terminal is shared with whoever started this program.
void Terminal::Impl::watch_input() {
  const int watch = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (watch < 0 || ::epoll_ctl(watch, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "the terminal cannot be watched");
  }
  input.assign(watch);
}

void Terminal::Impl::await_interrupt() {
  signals.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    if (!handlers.cancel()) interrupted = true;
    await_interrupt();
  });
}

TypedLine Terminal::Impl::read_line(std::string text_of_prompt) {
  prompt = std::move(text_of_prompt);
  interrupted = false;
  ::el_resize(editor.get());
  // Before the prompt, which libedit shows first: the end of input (^D) that is typed between the
  // two would come out as a NUL byte, and a reader of the prompt would wait for ever.
  ::el_set(editor.get(), EL_PREP_TERM, 1);
  int count = 0;
  const char* line = ::el_gets(editor.get(), &count);
  typing = Typing::nothing;
  if (line != nullptr && count > 0) {
    std::string text(line, static_cast<std::size_t>(count));
    if (text.ends_with('\n')) text.pop_back();
    return {.end = LineEnd::typed, .text = std::move(text)};
  }
  fmt::print("\n");
  return {.end = interrupted ? LineEnd::interrupted : LineEnd::ended, .text = {}};
}

// libedit's contract: 1 for a character, 0 at the end, -1 where the line is given up.
int Terminal::Impl::next_character(wchar_t* character) {
  std::mbstate_t state{};
  char byte = 0;
  while (next_byte(byte)) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, and a state of its own
    const auto used = std::mbrtowc(character, &byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) continue;
    if (used == static_cast<std::size_t>(-1)) {
      state = {};  // not of this locale: as if it had not been typed
      continue;
    }
    return 1;
  }
  return interrupted ? -1 : 0;
}

bool Terminal::Impl::next_byte(char& byte) {
  if (typing == Typing::command) await_input();
  if (interrupted) return false;
  const auto count = ::read(STDIN_FILENO, &byte, 1);
  // SIGINT is the only signal that has a handler here.
  if (count < 0 && errno == EINTR) interrupted = true;
  return count == 1;
}

void Terminal::Impl::await_input() {
  (void)std::fflush(stdout);
  readable = false;
  input.async_wait(asio::posix::stream_descriptor::wait_read,
                   [this](const boost::system::error_code&) { readable = true; });
  while (!readable) {
    context.restart();
    context.run_one();
    if (interrupted) input.cancel();
  }
}

unsigned char Terminal::Impl::complete() {
  const auto* line = ::el_line(editor.get());
  const std::string before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
  const auto word = last_word(before);
  const auto found = candidates(handlers.complete(before), word);
  if (found.empty()) return CC_ERROR;
  auto more = common_beginning(found).substr(word.size());
  if (found.size() == 1) more += ' ';
  if (!more.empty()) return ::el_insertstr(editor.get(), more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  offer(found);
  return CC_REDISPLAY;
}

void Terminal::Impl::offer(const std::vector<std::string>& words) const {
  constexpr std::size_t most = 100;
  fmt::print("\n");
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i) fmt::print("{}\n", words[i]);
  if (words.size() > most) fmt::print("... and {} more\n", words.size() - most);
  (void)std::fflush(stdout);
}

Terminal::Terminal(asio::io_context& context, Handlers handlers)
    : impl_(std::make_unique<Impl>(context, std::move(handlers))) {
  impl_->prepare();
}
Terminal::~Terminal() = default;

TypedLine Terminal::command(const std::string& prompt) {
  impl_->typing = Impl::Typing::command;
  auto line = impl_->read_line(prompt);
  if (line.end == LineEnd::typed && !line.text.empty()) {
    HistEvent event;
    ::history(impl_->history.get(), &event, H_ENTER, line.text.c_str());
  }
  return line;
}

void Terminal::interrupt() { impl_->interrupted = true; }

std::optional<std::string> Terminal::answer(const std::string& question) {
  // Above the line: libedit bounds the length of a prompt.
  show(question);
  impl_->typing = Impl::Typing::answer;
  auto line = impl_->read_line("  > ");
  if (line.end != LineEnd::typed) return std::nullopt;
  return std::move(line.text);
}

void Terminal::show(const std::string& text) {
  const bool above = impl_->typing == Impl::Typing::command;
  fmt::print("{}{}\n", above ? "\r\033[K" : "", text);
  (void)std::fflush(stdout);
  if (above) ::el_set(impl_->editor.get(), EL_REFRESH);
}

}  // namespace cellblock::cli
