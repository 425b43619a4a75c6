#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/probe/runner.h"

/// The results in the shapes that main.cc describes. Every text is printable ASCII.
namespace cellblock::probe {

enum class Verdict : std::uint8_t { held, declared, unexpected, not_applicable };

/// Without a declaration nothing that is open is declared.
Verdict verdict_on(const Tried& tried, const std::optional<ProbeDeclaration>& declaration);

/// Not one attempt was held, so these results speak for no cell.
bool nothing_held(const std::vector<Tried>& results);

nlohmann::json to_json(const std::vector<Tried>& results,
                       const std::optional<ProbeDeclaration>& declaration);

/// One line for each attempt: id, class, result, errno, detail, verdict, and the declaration that
/// allows it.
std::string to_tsv(const std::vector<Tried>& results,
                   const std::optional<ProbeDeclaration>& declaration);

/// For a person: what is open first, then how many were held.
std::string to_table(const std::vector<Tried>& results,
                     const std::optional<ProbeDeclaration>& declaration);

std::string list_of_attempts();

}  // namespace cellblock::probe
