#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// Which paths a configuration may name, as text alone: nothing here looks at a disk.
namespace cellblock {

/// Why `path` is not an absolute, normalised path of bearable length; none: it is.
std::optional<std::string> path_problem(std::string_view path);

/// `path` is `directory` or below it. Both normalised.
bool is_at_or_below(std::string_view path, std::string_view directory);

/// "/src" or "/src:/dst", both sides good paths.
Result<Bind> parse_bind(std::string_view text, Access access);

/// Directories of the host that no cell sees, whatever is declared, and why.
std::optional<std::string> source_problem(std::string_view source);

/// Places in the cell that are the cell's own, and why nothing can be put there.
std::optional<std::string> target_problem(std::string_view target);

/// The home directory inside the cell.
inline constexpr std::string_view home_in_cell = "/home/mcp";

/// Why `home_files` can put nothing at this path below the home.
std::optional<std::string> home_name_problem(std::string_view name);

/// Whether it is of `home_files`.
bool is_home_file(const Bind& bind);

/// The host's directories whose programs every cell can run.
std::span<const std::string_view> system_directories();

/// What a path inside the cell is outside: through the innermost bind, or itself where the cell
/// sees the host's own system directories; with an image, below the image but for places that are
/// the cell's own. None: nothing of the host is there.
std::optional<std::string> host_path_of(std::string_view cell_path, std::span<const Bind> binds,
                                        std::string_view image = {});

/// The directories between a `read` path and a `write` path that it lies in, as binds onto
/// themselves: a cell cannot rename a mount point (EBUSY), so it cannot put something else where
/// the `read` path is. By target, each once.
std::vector<Bind> held_directories(std::span<const Bind> binds);

}  // namespace cellblock
