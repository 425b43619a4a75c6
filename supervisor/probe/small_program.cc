#include "supervisor/probe/small_program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "supervisor/probe/files_at_hand.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

constexpr Elf64_Addr load_address = 0x40'0000;

#ifdef __x86_64__
constexpr Elf64_Half machine = EM_X86_64;
// mov edi, 42; mov eax, 60 (exit); syscall
constexpr std::array<unsigned char, 12> code = {0xbf, 0x2a, 0, 0, 0, 0xb8, 0x3c, 0, 0, 0, 0x0f, 5};
#else
constexpr Elf64_Half machine = EM_AARCH64;
// mov x0, #42; mov x8, #93 (exit); svc #0
constexpr std::array<unsigned char, 12> code = {0x40, 5,    0x80, 0xd2, 0xa8, 0x0b,
                                                0x80, 0xd2, 1,    0,    0,    0xd4};
#endif

Elf64_Ehdr file_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_entry = load_address + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  return header;
}

Elf64_Phdr program_header() {
  Elf64_Phdr header{};
  header.p_type = PT_LOAD;
  header.p_flags = PF_R | PF_X;
  header.p_vaddr = header.p_paddr = load_address;
  header.p_filesz = header.p_memsz = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + code.size();
  header.p_align = 0x1000;
  return header;
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool write_program(int file) {
  const std::string bytes = small_program();
  return ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

// An errno comes through the pipe, which a successful exec closes.
Outcome run(int file, const char* path) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) < 0) return not_begun("pipe failed");
  const pid_t child = ::fork();
  if (child < 0) return not_begun("fork failed");
  if (child == 0) {
    char name[] = "program";
    char* arguments[] = {name, nullptr};
    char* environment[] = {nullptr};
    if (path != nullptr) ::execve(path, arguments, environment);
    if (path == nullptr) ::fexecve(file, arguments, environment);
    const int error = errno;
    ::_exit(::write(report[1], &error, sizeof error) == sizeof error ? 1 : 2);
  }
  ::close(report[1]);
  int error = 0;
  const ssize_t count = ::read(report[0], &error, sizeof error);
  ::close(report[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (count == sizeof error) return held(error);
  const bool ran = WIFEXITED(status) && WEXITSTATUS(status) == small_exit_code;
  return ran ? opened() : held("exec succeeded, the program did not run");
}

}  // namespace

std::string small_program() {
  std::string bytes;
  append(bytes, file_header());
  append(bytes, program_header());
  append(bytes, code);
  return bytes;
}

Outcome run_written_program(const std::string& directory) {
  const Scratch scratch(directory);
  if (!scratch.valid()) return scratch.problem();
  {
    const Open file = scratch.create(O_WRONLY, 0700);
    if (!file.valid()) return unprepared(errno, "nothing can be written there");
    if (!write_program(file.get())) return not_begun("cannot write the file");
  }
  return run(-1, scratch.path().c_str());
}

Outcome run_program_from_memory() {
  const Open file(::memfd_create("cellblock-probe", MFD_CLOEXEC));
  if (!file.valid()) return unprepared(errno);
  if (!write_program(file.get())) return not_begun("cannot write the file");
  return run(file.get(), nullptr);
}

Outcome map_written_program(const std::string& directory) {
  const Scratch scratch(directory);
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_RDWR, 0700);
  if (!file.valid()) return unprepared(errno, "nothing can be written there");
  if (!write_program(file.get())) return not_begun("cannot write the file");
  const void* mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
  return mapped == MAP_FAILED ? held(errno) : opened();
}

}  // namespace cellblock::probe
