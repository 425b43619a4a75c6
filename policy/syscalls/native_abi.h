#pragma once

#include <linux/audit.h>

#include <cstdint>

/// Which system calls are this architecture's own.
namespace cellblock {

#if defined(__x86_64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter does not know this architecture's AUDIT_ARCH"
#endif

/// In a call's number: made through x32, which shares the architecture with x86-64.
inline constexpr std::uint32_t x32_bit = 0x4000'0000;

}  // namespace cellblock
