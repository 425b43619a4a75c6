#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

/// CLI11 takes a word in square brackets ("[a,b]") for a list, and splits it, wherever more words
/// than one may stand. Here such a word is JSON, a pattern, or a word of somebody else's command.
/// It gets a mark before CLI11 sees it, and loses it on the way into its variable.
namespace cellblock::cli {

/// The words of the command line, those in brackets marked.
std::vector<std::string> mark_brackets(std::span<char* const> words);

/// Makes every option of every command take the mark off again. Call once, when all are declared.
void unmark_brackets(CLI::App& app);

/// An error's text, in which CLI11 may quote what was marked.
std::string without_marks(std::string text);

}  // namespace cellblock::cli
