#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "supervisor/os/sys.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"

/// For fuzz targets whose inputs come with descriptors.
namespace cellblock::fuzz {

/// How many this process has open, the one that it counts with included.
inline std::size_t open_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  CELLBLOCK_FUZZ_CHECK(directory != nullptr);
  std::size_t count = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

enum class Kind : std::uint8_t {
  pipe_reader,
  pipe_writer,
  stream_socket,
  record_socket,
  listening_socket,
  internet_socket,
  memory,
  sealed_memory,
  directory,
  path_only,
  event,
  null_device,
};
inline constexpr unsigned kinds = 12;

/// An anonymous pipe or a Unix stream socket that does not listen: what a host may hand over.
inline bool is_stream(Kind kind) {
  return kind == Kind::pipe_reader || kind == Kind::pipe_writer || kind == Kind::stream_socket;
}
inline bool is_directory_kind(Kind kind) {
  return kind == Kind::directory || kind == Kind::path_only;
}

inline Fd sealed_journal() {
  Fd memory(::memfd_create("journal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CELLBLOCK_FUZZ_CHECK(::ftruncate(memory.get(), (1 << 20) + 4096) == 0);
  CELLBLOCK_FUZZ_CHECK(
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0);
  return memory;
}

inline Fd make_descriptor(Kind kind) {
  switch (kind) {
    case Kind::pipe_reader:
      return std::move(make_pipe()->first);
    case Kind::pipe_writer:
      return std::move(make_pipe()->second);
    case Kind::stream_socket:
      return std::move(make_stream_pair()->first);
    case Kind::record_socket:
      return std::move(make_seqpacket_pair()->first);
    case Kind::listening_socket: {
      Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};  // the kernel chooses a name
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t));
      ::listen(socket.get(), 1);
      return socket;
    }
    case Kind::internet_socket:
      return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case Kind::memory:
      return Fd(::memfd_create("other", MFD_CLOEXEC));
    case Kind::sealed_memory:
      return sealed_journal();
    case Kind::directory:
      return Fd(::open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    case Kind::path_only:
      return Fd(::open("/", O_PATH | O_CLOEXEC));
    case Kind::event:
      return Fd(::eventfd(0, EFD_CLOEXEC));
    case Kind::null_device:
      return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  return {};
}

struct Planned {
  Kind kind{};
  Fd fd;
};

/// None to four mostly, sometimes more than any receiver takes.
inline std::vector<Planned> planned_descriptors(Input& input) {
  std::vector<Planned> plan;
  unsigned count = input.choice(8);
  if (count == 7) count = 5 + input.choice(40);
  for (unsigned i = 0; i < count; ++i) {
    const auto kind = static_cast<Kind>(input.choice(kinds));
    Fd fd = make_descriptor(kind);
    CELLBLOCK_FUZZ_CHECK(fd.valid());
    plan.push_back({kind, std::move(fd)});
  }
  return plan;
}

/// One sendmsg, as somebody would do it who has no bound of ours. False: the socket is full.
inline bool send_with(int socket, std::string_view bytes, const std::vector<Planned>& plan) {
  std::vector<int> numbers;
  for (const Planned& planned : plan) numbers.push_back(planned.fd.get());
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 64)> control{};
  CELLBLOCK_FUZZ_CHECK(numbers.size() <= 64);
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!numbers.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * numbers.size());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * numbers.size());
    std::memcpy(CMSG_DATA(header), numbers.data(), sizeof(int) * numbers.size());
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

/// They are what was sent, in its order, and are closed at an exec.
inline void check_same(const std::vector<Fd>& came, const std::vector<Planned>& plan) {
  CELLBLOCK_FUZZ_CHECK(came.size() == plan.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    struct stat one{};
    struct stat other{};
    CELLBLOCK_FUZZ_CHECK(::fstat(came[i].get(), &one) == 0);
    CELLBLOCK_FUZZ_CHECK(::fstat(plan[i].fd.get(), &other) == 0);
    CELLBLOCK_FUZZ_CHECK(one.st_ino == other.st_ino && one.st_dev == other.st_dev);
    CELLBLOCK_FUZZ_CHECK((::fcntl(came[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

}  // namespace cellblock::fuzz
