#include "tests/containment/root_helper.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace cellblock::containment {
namespace {

constexpr std::size_t longest = 100'000;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string receive(int line) {
  std::vector<char> text(longest);
  const auto received = receive_record(line, std::as_writable_bytes(std::span(text)));
  return received ? std::string(text.data(), received->size) : std::string();
}

}  // namespace

RootHelper::RootHelper(const Answer& answer) {
  auto line = make_seqpacket_pair();
  if (!line) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    line->first.reset();
    for (auto word = receive(line->second.get()); !word.empty();
         word = receive(line->second.get())) {
      if (!send_record(line->second.get(), bytes_of(answer(word)))) break;
    }
    ::_exit(0);
  }
  line_ = std::move(line->first);
}

RootHelper::~RootHelper() {
  line_.reset();
  if (pid_ <= 0) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string RootHelper::ask(const std::string& word) const {
  if (!send_record(line_.get(), bytes_of(word))) return "nobody there";
  return receive(line_.get());
}

}  // namespace cellblock::containment
