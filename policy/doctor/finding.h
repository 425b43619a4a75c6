#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What `cellblock doctor` says of one thing that cells, or what is built around them, need.
namespace cellblock {

enum class Grade : std::uint8_t {
  ok,
  weaker,
  missing,
  untried,  ///< the asking user may not try it
};

std::string_view name_of(Grade grade);  ///< "ok", "weaker", "missing", "untried"

/// What does not work without it.
enum class NeededFor : std::uint8_t {
  cells,   ///< missing: no server can run at all
  daemon,  ///< missing: none can be used now
  some,    ///< missing: some servers, or a convenience
};

std::string_view name_of(NeededFor need);  ///< "cells", "daemon", "some"

struct DoctorFinding {
  std::string check;  ///< "user namespaces"
  Grade grade = Grade::ok;
  NeededFor need = NeededFor::some;
  std::string says;                   ///< the fact, in one line
  std::vector<std::string> remedy{};  ///< commands, or lines of a file; empty where it is ok
  bool operator==(const DoctorFinding&) const = default;
};

/// What all of them mean together.
enum class Outlook : std::uint8_t {
  full,       ///< a server can run in a full cell
  weaker,     ///< in one that lacks something
  no_daemon,  ///< possible, but no daemon is running
  none,       ///< in none
  untried,    ///< nothing was found against it, and no cell was made
};

Outlook outlook_of(const std::vector<DoctorFinding>& findings);
std::string_view name_of(Outlook outlook);  ///< "full", "weaker", "no_daemon", "none", "untried"

}  // namespace cellblock
