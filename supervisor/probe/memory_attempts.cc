#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

constexpr std::size_t page = 4096;

Outcome of_mapping(const void* mapped) { return mapped == MAP_FAILED ? held(errno) : opened(); }

void* writable_page() {
  return ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Outcome map_write_exec(const Setting&) {
  return of_mapping(::mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

Outcome make_written_executable(const Setting&) {
  void* mapped = writable_page();
  if (mapped == MAP_FAILED) return not_begun("mmap failed");
  *static_cast<volatile char*>(mapped) = 1;
  return from_call(::mprotect(mapped, page, PROT_READ | PROT_EXEC));
}

Outcome make_written_executable_by_key(const Setting&) {
  void* mapped = writable_page();
  if (mapped == MAP_FAILED) return not_begun("mmap failed");
  return from_call(::syscall(SYS_pkey_mprotect, mapped, page, PROT_READ | PROT_EXEC, -1));
}

// From PROT_NONE, as compilers of the just-in-time kind do.
Outcome make_reserved_executable(const Setting&) {
  void* mapped = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return not_begun("mmap failed");
  return from_call(::mprotect(mapped, page, PROT_READ | PROT_WRITE | PROT_EXEC));
}

Outcome make_stack_executable(const Setting&) {
  alignas(page) volatile char here[2 * page];
  here[0] = 1;
  const auto address = reinterpret_cast<std::uintptr_t>(here) & ~(page - 1);
  return from_call(::mprotect(reinterpret_cast<void*>(address), page,  // NOLINT
                              PROT_READ | PROT_WRITE | PROT_EXEC));
}

// The same memory twice: written here, run there.
Outcome alias_by_memfd(const Setting&) {
  const Open file(::memfd_create("cellblock-probe", MFD_CLOEXEC));
  if (!file.valid()) return held(errno);
  if (::ftruncate(file.get(), page) < 0) return held(errno);
  const void* written = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (written == MAP_FAILED) return held(errno);
  return of_mapping(::mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_SHARED, file.get(), 0));
}

Outcome alias_by_shared_memory(const Setting&) {
  const Scratch scratch("/dev/shm");
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_RDWR, 0700);
  if (!file.valid()) return unprepared(errno);
  if (::ftruncate(file.get(), page) < 0) return not_begun("ftruncate failed");
  return of_mapping(::mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_SHARED, file.get(), 0));
}

// Through the file of its own memory the kernel writes over what is not writable.
Outcome write_own_code(const Setting&) { return try_open("/proc/self/mem", O_RDWR); }

Outcome attach_executable(const Setting&) {
  const int id = ::shmget(IPC_PRIVATE, page, IPC_CREAT | 0600);
  if (id < 0) return held(errno);
  const void* mapped = ::shmat(id, nullptr, SHM_EXEC);
  const int error = errno;
  ::shmctl(id, IPC_RMID, nullptr);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what shmat returns
  return mapped == reinterpret_cast<void*>(-1) ? held(error) : opened();
}

Outcome map_zero_page(const Setting&) {
  return of_mapping(::mmap(nullptr, page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

Outcome remap_file(const Setting&) {
  void* mapped =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return not_begun("mmap failed");
  return from_call(::syscall(SYS_remap_file_pages, mapped, page, 0, 0, 0));
}

constexpr Attempt attempts[] = {
    {"map_write_exec", "code that a bug wrote can be run", map_write_exec},
    {"make_written_executable", "what was written can be made code", make_written_executable},
    {"make_written_executable_by_key", "what was written can be made code",
     make_written_executable_by_key},
    {"make_reserved_executable", "reserved memory can be made code", make_reserved_executable},
    {"make_stack_executable", "code on the stack can be run", make_stack_executable},
    {"alias_code_by_memfd", "memory is written here and run there", alias_by_memfd},
    {"alias_code_by_shared_memory", "memory is written here and run there", alias_by_shared_memory},
    {"attach_executable_segment", "memory is written here and run there", attach_executable,
     Danger::none, "shmget shmat"},
    {"write_own_code_by_file", "read-only code can be written over", write_own_code},
    {"map_zero_page", "a null pointer in the kernel leads to its memory", map_zero_page},
    {"remap_file_pages", "code of the kernel that nobody else uses", remap_file, Danger::none,
     "remap_file_pages"},
};

}  // namespace

std::span<const Attempt> memory_attempts() { return attempts; }

}  // namespace cellblock::probe
