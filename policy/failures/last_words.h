#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Which of a program's last lines on stderr says why it ended. Pure.
namespace cellblock {

/// The line that names the error in what runtimes write of one that nobody caught (Node.js, Python,
/// Rust, Go, Java, .NET), of several the last; else the last line that says something. Without what
/// a trace draws before it; empty: nothing was said. `lines` oldest first.
std::string last_words(const std::vector<std::string>& lines);

/// The host name that a look-up failed for, as such lines name it; empty: none does.
std::string unresolved_name(const std::vector<std::string>& lines);

}  // namespace cellblock
