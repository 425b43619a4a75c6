#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/cell_facts.h"
#include "policy/failures/verdict.h"
#include "policy/mcp/foreign_framing.h"

/// The end of a cell: facts in, one verdict and one sentence out. Pure.
namespace cellblock {

// Which of its last lines on stderr says why it ended.

/// The line that names the error in what runtimes write about an uncaught one (Node.js, Python,
/// Rust, Go, Java, .NET), the last of several; else the last line with content. Without a trace's
/// drawing before it; empty: there is none. `lines` oldest first.
std::string last_words(const std::vector<std::string>& lines);

/// The host name that a look-up failed for, as such lines name it; empty: none does.
std::string unresolved_name(const std::vector<std::string>& lines);

enum class Handshake : std::uint8_t { unanswered, answered };

/// The first reason for which the gateway itself gave the cell up, if it did. What the cell does
/// afterwards (mostly: die of SIGTERM or SIGKILL) does not change the verdict.
enum class GivenUp : std::uint8_t {
  no,
  asked_to_stop,      ///< the host left, an admin's stop, the daemon's end
  handshake_timeout,  ///< alive but silent
  closed_stdout,      ///< alive, but it can never answer again
  too_much_noise,     ///< more lines on stdout that are no messages than are allowed
  closed_stdin,       ///< alive, but it can never be asked again
  unread_stdin,       ///< alive, but what is written to it only piles up
  idle,               ///< no session needed it
  unresponsive,       ///< alive, but it answered nothing, not even whether it lives
  evicted,            ///< no session needed it, and its place was wanted
  foreign_framing,    ///< it answers, but not in lines of UTF-8
};

/// The last thing that the cell was refused on its way to the network.
struct RefusedNetwork {
  std::string what;     ///< "resolve api.example.org", "socket(AF_INET)"
  std::string reason;   ///< what refused it
  std::string allow;    ///< the TOML that would allow it; empty: nothing does
  bool is_all = false;  ///< network = "none", and no name is known that it asked for
};

struct EndedCell {
  CellFacts facts;
  Handshake handshake = Handshake::unanswered;
  GivenUp given_up = GivenUp::no;
  std::uint64_t age_ms = 0;                   ///< from the start to the end
  std::optional<std::uint64_t> memory_limit;  ///< limits.memory
  unsigned noise_lines = 0;
  std::optional<ForeignFraming> framing;  ///< GivenUp::foreign_framing
  std::string first_noise;                ///< printable.h
  std::string failed_path;                ///< the bind that facts.path_index names, or empty
  std::string broken;                     ///< PathFindings::broken
  std::vector<std::string> stderr_tail;   ///< printable.h, oldest first
  std::optional<RefusedNetwork> refused_network;
};

struct CrashVerdict {
  Verdict verdict{};
  std::string cause;   ///< "exited with code 1 before it answered; last words: \"Error: …\""
  std::string advice;  ///< the remedy, where the cause tells it; else empty
};

CrashVerdict judge_end(const EndedCell& cell);

/// What it said last, on stderr or else on stdout: `; last words: "Error: …"`; empty: nothing.
std::string last_words_of(const EndedCell& cell);

/// The remedy for a server that is silent, where it is known; else empty.
std::string advice_on_silence(const EndedCell& cell);

/// The last lines on stderr that users are shown.
std::vector<std::string> shown_lines(std::vector<std::string> stderr_tail);

/// `cell "git": step enter_root failed: EACCES: Permission denied (hint)`
std::string describe(std::string_view server, const CrashVerdict& verdict);

}  // namespace cellblock
