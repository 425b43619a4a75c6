#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/import/declared_server.h"
#include "policy/base/result.h"

/// Members of objects that others wrote, as they are: escaping is for whoever prints them. One of
/// another type than is expected is an error that names it; one that is absent is empty.
namespace cellblock::cli {

inline constexpr std::size_t max_import_texts = 1024;
inline constexpr std::size_t max_import_text = 64U << 10;

Result<std::string> text_member(const nlohmann::ordered_json& object, const char* name);
Result<std::vector<std::string>> texts_member(const nlohmann::ordered_json& object,
                                              const char* name);
/// Values that are numbers or booleans count as what they are written as.
Result<std::vector<DeclaredVariable>> variables_member(const nlohmann::ordered_json& object,
                                                       const char* name);
bool is_true(const nlohmann::ordered_json& object, const char* name);
/// An empty one if there is none.
const nlohmann::ordered_json& object_member(const nlohmann::ordered_json& object, const char* name);
const nlohmann::ordered_json& array_member(const nlohmann::ordered_json& object, const char* name);

}  // namespace cellblock::cli
