#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config_reader/located.h"

/// What the TOML says about redaction, as it is written.
namespace cellblock {

/// `"redact"`, or `{ to_server = "log", to_host = "redact" }`
struct RedactionChoiceText {
  Maybe<std::string> both;
  Maybe<std::string> to_server;
  Maybe<std::string> to_host;
};

/// `NAME = ...` in `[redaction.detectors]`
struct DetectorText {
  TextAt name;
  RedactionChoiceText choice;
};

/// `[redaction.expressions.NAME]`
struct ExpressionText {
  TextAt name;
  Maybe<std::string> pattern;
  RedactionChoiceText action;
};

/// `[redaction]`, `[server.NAME.redaction]`
struct RedactionText {
  RedactionChoiceText secrets;
  RedactionChoiceText credentials;
  RedactionChoiceText pii;
  RedactionChoiceText phi;
  std::vector<DetectorText> detectors;
  std::vector<ExpressionText> expressions;
};

}  // namespace cellblock
