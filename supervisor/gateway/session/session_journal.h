#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/session_journal.h"
#include "supervisor/kernel/sys.h"

/// The journal of one session (policy/session_journal.h) in the bridge's memory. The gateway writes
/// it and reads nothing of it, since the host may write there too.
namespace cellblock::gateway {

/// Memory of a host whose size is sealed, mapped.
class JournalMemory {
 public:
  /// Null: it is no memory of that size, or its size is not sealed.
  static std::unique_ptr<JournalMemory> map(const Fd& memory);
  explicit JournalMemory(std::span<char> mapped) : mapped_(mapped) {}
  JournalMemory(const JournalMemory&) = delete;
  JournalMemory& operator=(const JournalMemory&) = delete;
  ~JournalMemory();

  std::span<char> bytes() const { return mapped_; }

 private:
  std::span<char> mapped_;
};

class SessionJournal {
 public:
  /// What the session says of itself.
  struct Source {
    std::function<std::uint64_t()> memory_version;
    std::function<std::optional<std::string>()> memory;
    std::function<bool(std::string_view id)> is_owed;  ///< an answer, to the host
  };

  SessionJournal(std::unique_ptr<JournalMemory> memory, Source source);

  /// Lines of it are carried out from now on. nullopt: it is part of a line that is skipped.
  void begins_with(std::optional<std::string_view> unread);
  void asked(std::string_view id, CallShape shape);
  /// `queued`: bytes to the host that it has not taken.
  void turn_ends(std::optional<std::string_view> unread, std::size_t queued);

 private:
  void note_memory();
  void drop_answered();

  std::unique_ptr<JournalMemory> memory_;
  Source source_;
  JournalWriter writer_;
  std::vector<JournalledCall> calls_;
  std::optional<std::uint64_t> memory_version_;
  bool is_input_noted_ = false;
  bool is_partial_ = false;
};

}  // namespace cellblock::gateway
