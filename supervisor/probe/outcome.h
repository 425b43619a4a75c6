#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace cellblock::probe {

enum class OutcomeKind : std::uint8_t {
  unclear = 0,     ///< it did not come to an end, or could not be begun: it proves nothing
  held,            ///< refused with `error`, or without an errno as `detail` says
  open,            ///< it worked
  not_applicable,  ///< `detail`: what this machine or this call of the program lacks for it
};

/// How one attempt went. Fixed size: it crosses from the attempt's own process as bytes.
struct Outcome {
  OutcomeKind kind = OutcomeKind::unclear;
  std::int32_t error = 0;  ///< errno; 0: none
  std::array<char, 152> text{};

  std::string_view detail() const { return {text.data()}; }
};
static_assert(std::is_trivially_copyable_v<Outcome>);

Outcome opened(std::string_view detail = {});
Outcome held(int error, std::string_view detail = {});
Outcome held(std::string_view detail);
Outcome not_applicable(std::string_view why);
Outcome unclear(std::string_view why);

/// What the attempt needs before it tries anything failed with errno as it stands. Not
/// not_applicable: a cell too tight to try in has held nothing yet.
Outcome not_begun(std::string_view lacking);

/// Of a system call: negative is refused, with errno as it stands.
Outcome from_call(long result);

/// For calls that are made with arguments that can do no harm: the kernel asks for the right to
/// them first, so any complaint but about permission means that the right was there.
Outcome from_harmless_call(long result);

}  // namespace cellblock::probe
