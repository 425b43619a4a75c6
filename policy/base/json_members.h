#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock {

/// Members of a JSON object as text, in the order in which they were added. For programs that link
/// no JSON library.
class JsonMembers {
 public:
  JsonMembers& text(std::string_view name, std::string_view value);
  JsonMembers& flag(std::string_view name, bool value);
  JsonMembers& number(std::string_view name, std::size_t value);
  /// `json` is valid.
  JsonMembers& raw(std::string_view name, std::string_view json);
  /// What another's members() gave.
  JsonMembers& append(std::string_view members);

  const std::string& members() const { return text_; }
  std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

/// `elements` are valid JSON.
std::string json_array(const std::vector<std::string>& elements);
std::string json_strings(std::vector<std::string> texts);

}  // namespace cellblock
