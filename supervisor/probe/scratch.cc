#include "supervisor/probe/scratch.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cellblock::probe {
namespace {

constexpr char entry[] = "entry";

// What its owner closed its owner can open again: no defence.
bool is_closed_by_own_mode(const std::string& directory) {
  struct stat status{};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & S_IRWXU) != S_IRWXU;
}

}  // namespace

std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (const unsigned char byte : bytes) {
    name += digits[byte >> 4U];
    name += digits[byte & 0xfU];
  }
  return name;
}

Outcome unprepared(int error, std::string_view detail) {
  const bool refused = error == EACCES || error == EPERM || error == EROFS || error == ENOSYS;
  if (refused) return held(error, detail);
  errno = error;
  return not_begun("what the attempt needs could not be made");
}

Scratch::Scratch(std::string parent) {
  if (parent.empty()) parent = scratch_directory();
  if (parent.empty()) {
    problem_ = not_applicable("nothing can be written anywhere");
  } else {
    make(parent);
  }
}

void Scratch::make(const std::string& parent) {
  const std::string name = random_name();
  if (name.empty()) {
    problem_ = not_begun("no random name could be made");
    return;
  }
  path_ = parent + "/cellblock-probe-" + name;
  if (::mkdir(path_.c_str(), 0700) < 0) {
    const bool by_itself = errno == EACCES && is_closed_by_own_mode(parent);
    problem_ = by_itself ? not_begun("its owner closed the directory")
               : errno == ENOENT && !exists(parent.c_str())
                   ? held(errno, "there is no such directory")
                   : unprepared(errno, "nothing can be written there");
    return;
  }
  directory_ = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory_ < 0) problem_ = not_begun("the new directory cannot be opened");
}

Scratch::~Scratch() {
  if (!valid()) return;
  remove();
  ::close(directory_);
  ::rmdir(path_.c_str());
}

Open Scratch::create(int flags, mode_t mode) const {
  return Open(::openat(directory_, entry, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

bool Scratch::remove() const { return ::unlinkat(directory_, entry, 0) == 0; }

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
