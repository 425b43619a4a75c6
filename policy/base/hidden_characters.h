#pragma once

namespace cellblock {

/// Of valid Unicode, above ASCII: what a reader does not see, or what moves, hides or reorders what
/// he does see. C1 controls, line and paragraph separators, bidirectional controls, zero-width and
/// other invisible characters, variation selectors, tags, and what is no character at all.
bool is_hidden(char32_t value);

}  // namespace cellblock
