#include "supervisor/launcher/child/exec_diagnosis.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cellblock::launcher {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half native_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half native_machine = EM_AARCH64;
#else
#error "name this architecture's ELF machine"
#endif

ExecDetail diagnose_mode(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return ExecDetail::is_directory;
  return ExecDetail::not_executable;
}

ExecDetail diagnose_content(const char* path, int error) {
  char head[sizeof(Elf64_Ehdr)] = {};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ExecDetail::none;
  const ssize_t count = read(fd, head, sizeof head);
  close(fd);
  if (count >= 2 && head[0] == '#' && head[1] == '!') return ExecDetail::interpreter_missing;
  const bool elf =
      count >= static_cast<ssize_t>(sizeof head) && std::memcmp(head, ELFMAG, SELFMAG) == 0;
  if (!elf) return ExecDetail::unknown_format;
  Elf64_Ehdr header;
  std::memcpy(&header, head, sizeof header);
  if (header.e_machine != native_machine) return ExecDetail::wrong_architecture;
  return error == ENOENT ? ExecDetail::loader_missing : ExecDetail::unknown_format;
}

}  // namespace

ExecDetail diagnose_exec(const char* path, int error) noexcept {
  struct stat status{};
  if (stat(path, &status) < 0)
    return error == ENOENT ? ExecDetail::command_missing : ExecDetail::none;
  if (error == EACCES) return diagnose_mode(status);
  return diagnose_content(path, error);
}

}  // namespace cellblock::launcher
