#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"

/// An elicitation's form as questions for a terminal, and what was typed as the values it wants.
namespace cellblock::cli {

struct FormField {
  std::string name;               ///< as the server wrote it
  nlohmann::ordered_json schema;  ///< an object
  bool required = false;
};

/// What was typed, without blanks at its ends.
std::string_view trimmed(std::string_view text);

/// In the order in which the server wrote them; at most 64.
std::vector<FormField> form_fields(const nlohmann::ordered_json& requested_schema);

/// `age (integer, required) [20]: `, with what it is for in front. Escaped.
std::string field_prompt(const FormField& field);

/// The typed text as the field's type; null, where it was left empty and may be. An empty line
/// takes the default. A list has commas between its elements. invalid_argument in words for who
/// typed.
client::Result<nlohmann::ordered_json> field_value(const FormField& field, std::string_view typed);

}  // namespace cellblock::cli
