#pragma once

#include <expected>
#include <string>
#include <vector>

#include "policy/config/broken_parts.h"
#include "supervisor/loader/load/config_files.h"

/// The texts of `cellblockd --check` about a configuration. Pure.
namespace cellblock {

/// The verdict, each complaint on a line of its own, then each server with its weakenings.
std::string check_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded);

/// The verdict, and what is wrong or left out; empty: nothing. Warnings are omitted.
std::string brief_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded);

}  // namespace cellblock
