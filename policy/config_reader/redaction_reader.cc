#include "policy/config_reader/redaction_reader.h"

#include <optional>
#include <utility>
#include <vector>

namespace cellblock {
namespace {

RedactionChoiceText read_directions(TableReader reader) {
  RedactionChoiceText choice;
  choice.to_server = reader.text("to_server");
  choice.to_host = reader.text("to_host");
  return choice;
}

RedactionChoiceText choice_of(TextOrTable value) {
  if (value.table) return read_directions(std::move(*value.table));
  return {.both = std::move(value.text), .to_server = {}, .to_host = {}};
}

ExpressionText read_expression(TextAt name, TableReader reader) {
  ExpressionText expression{.name = std::move(name), .pattern = {}, .action = {}};
  expression.pattern = reader.text("pattern");
  expression.action = choice_of(reader.text_or_table("action"));
  return expression;
}

std::vector<DetectorText> detectors_of(std::optional<TableReader> table) {
  std::vector<DetectorText> detectors;
  if (!table) return detectors;
  for (TextAt& name : table->names()) {
    RedactionChoiceText choice = choice_of(table->text_or_table(name.value));
    detectors.push_back({std::move(name), std::move(choice)});
  }
  return detectors;
}

std::vector<ExpressionText> expressions_of(std::optional<TableReader> table) {
  std::vector<ExpressionText> expressions;
  if (!table) return expressions;
  for (TextAt& name : table->names()) {
    auto expression = table->table(name.value);
    if (!expression) continue;
    expressions.push_back(read_expression(std::move(name), std::move(*expression)));
  }
  return expressions;
}

}  // namespace

RedactionText read_redaction(TableReader reader) {
  RedactionText text;
  text.secrets = choice_of(reader.text_or_table("secrets"));
  text.credentials = choice_of(reader.text_or_table("credentials"));
  text.pii = choice_of(reader.text_or_table("pii"));
  text.phi = choice_of(reader.text_or_table("phi"));
  text.detectors = detectors_of(reader.table("detectors"));
  text.expressions = expressions_of(reader.table("expressions"));
  return text;
}

}  // namespace cellblock
