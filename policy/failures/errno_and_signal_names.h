#pragma once

#include <cstdint>
#include <string>

/// The kernel's names for numbers, for sentences that a person reads.
namespace cellblock {

std::string errno_name(int error);      ///< "EACCES"; "errno 999"
std::string errno_sentence(int error);  ///< "Permission denied"
std::string signal_name(int signal);    ///< "SIGSEGV"; "signal 99"

/// "unshare", or "i386 system call 20" where the number is of another architecture or is newer than
/// every name known here.
std::string syscall_name(std::uint32_t audit_arch, std::int32_t number);

}  // namespace cellblock
