#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What is wrong with a configuration, where, and what would be right. All complaints are collected
/// before any is shown, so that an admin mends a file once.
namespace cellblock {

/// Lines and columns count from 1; line 0 means the file as a whole.
struct Place {
  unsigned line = 0;
  unsigned column = 0;
  bool operator==(const Place&) const = default;
};

struct Complaint {
  /// broken: a fact of the host, for which one server, role or token is left out.
  enum class Severity { error, broken, warning } severity{};
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  std::string key;   ///< "server.files.limits.memory"; empty: the file itself
  std::string text;  ///< ends in "; allowed: ..." where there is something to say
  bool operator==(const Complaint&) const = default;
};

/// More than an admin reads; a hostile file must not make a report of unbounded size.
inline constexpr std::size_t max_complaints = 1000;

/// Collects complaints; from max_complaints on they are only counted.
class Complaints {
 public:
  /// Only the first of a value's: of the same key at the same place.
  void error(std::string_view file, Place at, std::string key, std::string text);
  /// False: something is said of that key at that place already, and this is not added.
  bool broken(std::string_view file, Place at, std::string key, std::string text);
  void warning(std::string_view file, Place at, std::string key, std::string text);

  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  /// What is more than a warning.
  std::size_t fault_count() const { return errors_ + broken_; }
  /// Something was said about this key already, so that its absence need not be said as well.
  bool mentions(std::string_view file, std::string_view key) const;

  /// Sorted by file and line, errors and warnings mixed; the last one says how many were left out.
  std::vector<Complaint> take_sorted();

 private:
  bool is_said(Complaint::Severity severity, std::string_view file, Place at,
               std::string_view key) const;
  void add(Complaint complaint);

  std::vector<Complaint> all_;
  std::size_t errors_ = 0;
  std::size_t broken_ = 0;
  std::size_t left_out_ = 0;
};

/// "/etc/cellblock/cellblock.toml:12:3: error: server.files.command: ..."
std::string to_line(const Complaint& complaint);

}  // namespace cellblock
