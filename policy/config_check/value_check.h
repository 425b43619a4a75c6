#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/config/breakage.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/located.h"

/// Single values: unit read, range kept, default filled in, or a complaint that says what is
/// allowed.
namespace cellblock {

/// A part of one file, to complain about. Borrows the complaints.
struct Scope {
  Complaints& complaints;
  std::string file;
  std::string prefix;  ///< "server.files."
  /// Of the server, role or token that this part declares; null: nothing can be left out.
  Breakage* breakage = nullptr;

  void error(Place at, std::string_view key, std::string text) const;
  /// A fact of the host: what declares it is left out. An error where that cannot be.
  void broken(Place at, std::string_view key, const std::string& text) const;
  void warning(Place at, std::string_view key, std::string text) const;
  bool mentioned(std::string_view key) const;
  Scope below(std::string_view table) const;  ///< "server.files." -> "server.files.limits."
};

template <class T>
struct Range {
  T least;
  T most;
  bool holds(T value) const { return value >= least && value <= most; }  // not of a NaN
};

// Each stores into `out` what is written, and leaves it alone when nothing is, or nothing good.

void check_integer(const Scope& scope, std::string_view key, const Maybe<std::int64_t>& text,
                   Range<std::int64_t> range, std::uint32_t& out);
void check_size(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                Range<std::uint64_t> range, std::uint64_t& out);
/// `unit`: "processors".
void check_number(const Scope& scope, std::string_view key, const Maybe<double>& text,
                  Range<double> range, std::string_view unit, double& out);
/// `besides`: what the key may say otherwise, as the complaint is to add it: `, or "never"`.
void check_duration(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                    Range<std::chrono::milliseconds> range, std::chrono::milliseconds& out,
                    std::string_view besides = {});

/// An absolute, normalised path.
void check_path(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                std::string& out);

}  // namespace cellblock
