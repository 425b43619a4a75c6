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

/// What of a call may stand in the audit log. Whatever a server's redaction looks for is taken out,
/// also where it only counts it, and the secrets that the server was given; where the administrator
/// wants arguments there, also what looks like a credential or is called like one.
class ArgumentTexts {
 public:
  /// As the log escapes it; then a mark says how many bytes are missing.
  static constexpr std::size_t longest = 4096;

  /// Which outlives it.
  explicit ArgumentTexts(const Config& config) : config_(config) {}

  /// The configuration has changed.
  void reconfigure() { redactors_.clear(); }

  /// Of `params` of a request, as they are: the JSON of its `arguments`; `{}` where there are none.
  ArgumentText of(std::uint32_t server, std::string_view params);
  /// Of the name of a tool, a prompt or a resource, or another word of a record about that server.
  /// As it is where there is no such server.
  std::string name(std::string_view server, std::string_view said);

 private:
  const Result<Redactor>& redactor_of(std::uint32_t server);

  const Config& config_;
  Redactor::Scanners scanners_;
  std::map<std::uint32_t, Result<Redactor>> redactors_;
};

}  // namespace cellblock::gateway
