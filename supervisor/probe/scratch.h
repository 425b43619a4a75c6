#pragma once

#include <string>

#include "supervisor/probe/attempt.h"
#include "supervisor/probe/files_at_hand.h"

/// A place for what attempts write. Homes and workspaces last: a server that ran there before could
/// leave anything under a name that it can guess, and make the probe take that for a defence.
namespace cellblock::probe {

/// 32 hexadecimal digits that cannot be guessed. Empty: the kernel gave none.
std::string random_name();

/// What it means that something an attempt needs could not be written, with this errno: held if the
/// sandbox refused it, else unclear.
Outcome unprepared(int error, std::string_view detail = {});

/// A new directory, removed again with all that was made in it by these functions.
class Scratch {
 public:
  /// Below `parent`; in a directory that can be written if it is empty.
  explicit Scratch(std::string parent = {});
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  bool valid() const { return directory_ >= 0; }
  /// Why it is not valid.
  const Outcome& problem() const { return problem_; }

  /// A new file, never what a link leads to; see errno.
  Open create(int flags, mode_t mode) const;
  /// The path of the one entry that an attempt makes.
  std::string path() const { return path_ + "/entry"; }
  /// The directory's own.
  const std::string& directory() const { return path_; }
  bool remove() const;

 private:
  void make(const std::string& parent);

  int directory_ = -1;
  std::string path_;
  Outcome problem_;
};

// Running what was just written.

/// The bytes of an ELF program of this machine that does nothing but exit with `small_exit_code`.
std::string small_program();
inline constexpr int small_exit_code = 42;

/// Writes it to `directory`, runs it, and removes it.
Outcome run_written_program(const std::string& directory);

/// The same without any file.
Outcome run_program_from_memory();

/// Maps a file of `directory` with PROT_EXEC: running it without exec.
Outcome map_written_program(const std::string& directory);

}  // namespace cellblock::probe
