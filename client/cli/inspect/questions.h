#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"
#include "cellblock/types.h"

/// What a server asks of its user, asked at the terminal.
namespace cellblock::cli {

/// A field of an elicitation's form.
struct FormField {
  std::string name;               ///< as the server wrote it
  nlohmann::ordered_json schema;  ///< an object
  bool required = false;
};

/// In the order in which the server wrote them; at most 64.
std::vector<FormField> form_fields(const nlohmann::ordered_json& requested_schema);

/// `age (integer, required) [20]: `, with what it is for in front. Escaped.
std::string field_prompt(const FormField& field);

/// The typed text as the field's type; null, where it was left empty and may be. An empty line
/// takes the default. A list has commas between its elements. invalid_argument in words for who
/// typed.
client::Result<nlohmann::ordered_json> field_value(const FormField& field, std::string_view typed);

/// Shows this text, which is escaped, and reads a line; nothing at the end of input or at Ctrl-C.
using ReadAnswer = std::function<std::optional<std::string>(const std::string& prompt)>;

/// Writes escaped text on lines of its own.
using ShowText = std::function<void(const std::string& text)>;

/// Answers a request of the server: an elicitation by asking at the terminal, where it can always
/// be declined; anything else with -32601. Opens no address by itself.
client::Result<std::string> answer_question(std::string_view method, std::string_view params,
                                            const ReadAnswer& read, const ShowText& show);

}  // namespace cellblock::cli
