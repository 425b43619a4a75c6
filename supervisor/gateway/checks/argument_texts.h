#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/redaction/redactor.h"

namespace cellblock::gateway {

struct ArgumentText {
  std::string text;
  bool is_clean = false;  ///< nothing was taken out: a digest beside it tells nothing more
};

/// The part of a call that may stand in the audit log. It removes what the server's redaction looks
/// for (also where it only counts) and the secrets the server was given. Where the administrator
/// records arguments, it also removes what looks like a credential or has a credential's name.
class ArgumentTexts {
 public:
  /// Longest text, as the log escapes it; a mark then tells how many bytes are missing.
  static constexpr std::size_t longest = 4096;

  /// Which outlives it.
  explicit ArgumentTexts(const Config& config) : config_(config) {}

  /// The configuration has changed.
  void reconfigure() { redactors_.clear(); }

  /// The JSON of `arguments` in the `params` of a request; `{}` if there are none.
  ArgumentText of(std::uint32_t server, std::string_view params);
  /// A tool's, prompt's or resource's name, or another word of a record about that server.
  /// Unchanged if there is no such server.
  std::string name(std::string_view server, std::string_view said);

 private:
  const Result<Redactor>& redactor_of(std::uint32_t server);

  const Config& config_;
  Redactor::Scanners scanners_;
  std::map<std::uint32_t, Result<Redactor>> redactors_;
};

}  // namespace cellblock::gateway
