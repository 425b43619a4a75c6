#pragma once

#include <string>
#include <vector>

namespace cellblock::containment {

/// Who tries it outside: the very user that the cell's server would be, or root, where only root
/// may do such a thing at all. Root does it in a mount namespace of its own, for the machine's
/// sake.
enum class Outside { same_user, root };

/// The probe's line, or how it ended if it wrote none.
std::string run_outside(const std::vector<std::string>& command, Outside who);

/// All that it wrote to standard output.
std::string whole_output_outside(const std::vector<std::string>& command, Outside who);

/// Makes the calling process the user that cells run as. False if that failed.
bool become_cell_user();

}  // namespace cellblock::containment
