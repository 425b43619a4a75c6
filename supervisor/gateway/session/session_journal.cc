#include "supervisor/gateway/session/session_journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

namespace cellblock::gateway {

namespace {

constexpr int size_seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

// Only memfds have seals, so no file system can block, now or when a page is touched.
bool is_sound(int memory) {
  const int seals = ::fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & size_seals) != size_seals) return false;
  struct stat status{};
  return ::fstat(memory, &status) == 0 &&
         status.st_size == static_cast<off_t>(session_journal_bytes);
}

// Another process reads the journal after the end of this one.
void store(std::uint32_t& number, std::uint32_t value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

}  // namespace

std::unique_ptr<JournalMemory> JournalMemory::map(const Fd& memory) {
  if (!is_sound(memory.get())) return nullptr;
  void* const mapped =
      ::mmap(nullptr, session_journal_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  return std::make_unique<JournalMemory>(
      std::span<char>(static_cast<char*>(mapped), session_journal_bytes));
}

JournalMemory::~JournalMemory() { ::munmap(mapped_.data(), mapped_.size()); }

JournalWriter::JournalWriter(std::span<char> memory) : memory_(memory) {
  set_memory("null");
  set_calls({});
  set_input("", false);
}

journal::Head& JournalWriter::head() const {
  return *std::launder(reinterpret_cast<journal::Head*>(memory_.data()));  // NOLINT(*-cast)
}

void JournalWriter::begin() { store(head().begun, journal::begun_mark); }

bool JournalWriter::put(journal::Part part, std::string_view mark,
                        std::optional<std::string_view> bytes) {
  const std::size_t index = journal::index_of(part);
  journal::PartHead& own = head().parts.at(index);
  const std::uint32_t next = current_.at(index) == 0 ? 1 : 0;
  const bool fits = bytes && mark.size() + bytes->size() <= journal::part_bytes.at(index);
  if (fits) {
    char* const place = memory_.data() + journal::place_of(part, next);
    std::ranges::copy(mark, place);
    std::ranges::copy(*bytes, place + mark.size());
  }
  const std::size_t length = fits ? mark.size() + bytes->size() : journal::too_long;
  store(own.length.at(next), static_cast<std::uint32_t>(length));
  store(own.current, next);
  current_.at(index) = next;
  return fits;
}

void JournalWriter::set_memory(const std::optional<std::string>& json) {
  put(journal::Part::memory, {}, json);
}

void JournalWriter::set_calls(const std::vector<JournalledCall>& calls) {
  put(journal::Part::calls, {}, journal::text_of(calls));
}

bool JournalWriter::set_input(std::optional<std::string_view> bytes, bool is_taken) {
  const char mark = is_taken ? journal::taken_mark : journal::later_mark;
  return put(journal::Part::input, {&mark, 1}, bytes);
}

void JournalWriter::set_partial_output(bool is_partial) {
  store(head().partial_output, is_partial ? 1 : 0);
}

SessionJournal::SessionJournal(std::unique_ptr<JournalMemory> memory, Source source)
    : memory_(std::move(memory)), source_(std::move(source)), writer_(memory_->bytes()) {}

void SessionJournal::begins_with(std::optional<std::string_view> unread) {
  note_memory();
  is_input_whole_ = writer_.set_input(unread, true);
  writer_.begin();
  is_input_noted_ = true;
}

void SessionJournal::asked(std::string_view id, CallShape shape) {
  calls_.push_back({std::string(id), shape});
  has_new_calls_ = true;
  if (!is_input_noted_ || !is_input_whole_) note_calls();
}

void SessionJournal::note_memory() {
  const std::uint64_t version = source_.memory_version();
  if (memory_version_ == version) return;
  memory_version_ = version;
  writer_.set_memory(source_.memory());
}

void SessionJournal::note_calls() {
  writer_.set_calls(calls_);
  has_new_calls_ = false;
}

void SessionJournal::turn_ends(std::optional<std::string_view> unread, std::size_t queued) {
  note_memory();
  const bool is_partial = queued != 0;
  if (std::exchange(is_partial_, is_partial) != is_partial) writer_.set_partial_output(is_partial);
  // While the host has not taken everything, it is not known which answers it has whole.
  const auto answered = [this](const JournalledCall& call) { return !source_.is_owed(call.id); };
  if (!is_partial && std::erase_if(calls_, answered) != 0) has_new_calls_ = true;
  if (has_new_calls_) note_calls();
  if (std::exchange(is_input_noted_, false)) writer_.set_input(unread, false);
  writer_.begin();
}

}  // namespace cellblock::gateway
