#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/audit/chain.h"

/// Goes through an audit log line by line and says what is wrong with it. Pure; what it keeps is
/// bounded, however long the log is.
namespace cellblock::audit {

enum class Grade : std::uint8_t {
  broken,       ///< a line was changed, removed or inserted
  lost,         ///< a gateway made records that never came here
  interrupted,  ///< a writer ended without closing the log; the chain goes on after it
};

struct Finding {
  Grade grade{};
  std::string file;
  std::uint64_t line = 0;  ///< in that file, from 1
  std::string what;
  bool operator==(const Finding&) const = default;
};

struct LogReport {
  std::uint64_t files = 0;
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  ///< number of the first line that is there; 0: there is none
  ChainPoint last;
  std::vector<Finding> findings;  ///< the first so many
  std::uint64_t more_findings = 0;
  std::uint64_t broken = 0;
  std::uint64_t lost = 0;
};

class LogVerifier {
 public:
  static constexpr std::size_t most_findings = 100;
  static constexpr std::size_t longest_torn = 1U << 20;

  /// `anchors`: lines that were seen earlier, in the log's order. Each must be there as it was, or
  /// have made room since. `none_met`: what it is where that holds for all of them, so that nothing
  /// shows that the log goes on from there.
  explicit LogVerifier(std::vector<ChainPoint> anchors = {}, Grade none_met = Grade::interrupted)
      : anchors_(std::move(anchors)), none_met_(none_met) {}

  /// The files in the order of their first lines.
  void begin_file(std::string name);
  /// Without its newline.
  void line(std::string_view text);
  /// What comes after the file's last newline.
  void rest(std::string_view bytes);
  LogReport finish();

 private:
  struct Known;  // what the verifier reads in a line
  struct Gateway {
    std::uint64_t last = 0;    ///< the highest number
    std::uint64_t latest = 0;  ///< the number that was seen last: lower, where some were sent again
    std::uint64_t writer = 0;  ///< how many had opened the log when it was last seen
    std::uint64_t break_count = 0;
  };

  void find(Grade grade, std::string what);
  void check_torn(const Known& known);
  void check_opening();
  void check_link(const SealedLine& sealed, const Known& known);
  void explain_break(const SealedLine& sealed);
  void check_gateway(const Known& known);
  void check_word(const Known& known);
  void name_unbacked_words();
  void check_end();
  void check_last_anchor();
  void check_anchor(const ChainPoint& line);
  void found_break(std::string what);

  std::vector<ChainPoint> anchors_;
  Grade none_met_;
  bool last_anchor_met_ = false;
  LogReport report_;
  std::string file_;
  std::uint64_t line_ = 0;
  bool has_former_ = false;
  bool closed_ = true;    ///< the last line closed the log
  bool excused_ = false;  ///< the next line's link cannot be checked, and that was said
  /// What the last line's hash should have been, where it was another.
  std::optional<Sha256> instead_;
  std::string torn_;  ///< bytes since the last whole line
  std::uint64_t torn_at_ = 0;
  std::uint64_t writers_ = 0;
  std::map<std::string, Gateway, std::less<>> gateways_;
  bool knows_all_gateways_ = false;

  /// A gateway, and an administrator's uid.
  using Visit = std::pair<std::string, std::uint64_t>;
  struct Word {
    std::string file;
    std::uint64_t line = 0;
    std::uint64_t sequence = 0;
    std::string what;
  };
  /// The first line in which the supervisor tells of it.
  std::map<Visit, std::uint64_t> visits_;
  /// Words that a gateway tells of, before such a line was met. The first of each.
  std::map<Visit, Word> words_;
  bool tells_visits_ = false;  ///< by its format, the log has such lines from here on
};

}  // namespace cellblock::audit
