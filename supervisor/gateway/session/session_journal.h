#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/resumable_session.h"
#include "supervisor/os/sys.h"

/// The journal of one session (policy/failures/resumable_session.h) in the bridge's memory. The
/// gateway writes it and reads nothing of it, since the host may write there too.
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

/// Writes the parts: each is replaced as a whole, and one that does not fit is marked as too long.
class JournalWriter {
 public:
  /// `memory`: session_journal_bytes, zero; outlives it.
  explicit JournalWriter(std::span<char> memory);
  /// Starts to count.
  void begin();

  /// nullopt: the session cannot go on elsewhere.
  void set_memory(const std::optional<std::string>& json);
  void set_calls(const std::vector<JournalledCall>& calls);
  /// What was read of the host. `is_taken`: its whole lines may be carried out now; else they are
  /// for later. nullopt: too long to be kept. False: it was.
  bool set_input(std::optional<std::string_view> bytes, bool is_taken);
  /// The last line to the host has not been written to its end.
  void set_partial_output(bool is_partial);

 private:
  journal::Head& head() const;
  bool put(journal::Part part, std::string_view mark, std::optional<std::string_view> bytes);

  std::span<char> memory_;
  std::array<std::uint32_t, journal::part_bytes.size()> current_{};
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
  /// Noted when the turn ends where the input of the turn, which has it, is.
  void asked(std::string_view id, CallShape shape);
  /// `queued`: bytes to the host that it has not taken.
  void turn_ends(std::optional<std::string_view> unread, std::size_t queued);

 private:
  void note_memory();
  void note_calls();

  std::unique_ptr<JournalMemory> memory_;
  Source source_;
  JournalWriter writer_;
  std::vector<JournalledCall> calls_;
  std::optional<std::uint64_t> memory_version_;
  bool is_input_noted_ = false;
  bool is_input_whole_ = false;  ///< and not too long to be noted
  bool has_new_calls_ = false;   ///< that are not noted, but in the input
  bool is_partial_ = false;
};

}  // namespace cellblock::gateway
