#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "supervisor/kernel/sys.h"

namespace cellblock {

/// A file of a FUSE file system that does not answer when a copy of it is closed, until this ends.
class UnansweringFile {
 public:
  /// `where`: an existing directory. Needs /dev/fuse and the right to mount.
  explicit UnansweringFile(const std::string& where) : where_(where) {
    // Other tests compare the mounts of the machine before and after.
    if (!device_.valid() || ::unshare(CLONE_NEWNS) < 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) {
      return;
    }
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = ::mount("fuse", where.c_str(), "fuse", 0, options.c_str()) == 0;
    if (mounted_) server_ = std::thread([this] { serve(); });
  }
  UnansweringFile(const UnansweringFile&) = delete;
  UnansweringFile& operator=(const UnansweringFile&) = delete;
  ~UnansweringFile() {
    if (!mounted_) return;
    ::umount2(where_.c_str(), MNT_FORCE | MNT_DETACH);  // aborts: whoever waits gets an error
    server_.join();
    if (sender_ > 0) ::waitpid(sender_, nullptr, 0);
  }

  bool usable() const { return mounted_; }

  /// By a process of its own, which then waits in the end of its own copy.
  bool send_into(int channel, std::span<const std::byte> record) {
    auto sent = make_pipe();
    if (!sent) return false;
    const std::string path = where_ + "/file";
    sender_ = ::fork();
    if (sender_ == 0) {
      const std::array<int, 1> fds{::open(path.c_str(), O_RDWR)};
      const bool done = fds[0] >= 0 && send_record(channel, record, fds).has_value();
      static_cast<void>(!::write(sent->second.get(), done ? "y" : "n", 1));
      ::_exit(0);
    }
    char answer = 'n';
    return ::read(sent->first.get(), &answer, 1) == 1 && answer == 'y';
  }

 private:
  void serve() {
    std::vector<char> buffer(1U << 17U);
    while (true) {
      const ssize_t count = ::read(device_.get(), buffer.data(), buffer.size());
      if (count < 0 && (errno == EINTR || errno == ENOENT)) continue;
      if (count < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
      fuse_in_header header{};
      std::memcpy(&header, buffer.data(), sizeof header);
      answer(header);
    }
  }

  void answer(const fuse_in_header& header) const {
    switch (header.opcode) {
      case FUSE_INIT:
        return reply(header, fuse_init_out{.major = 7, .minor = 31, .max_write = 4096});
      case FUSE_LOOKUP:
        return reply(
            header, fuse_entry_out{
                        .nodeid = 2, .entry_valid = 100, .attr_valid = 100, .attr = attributes(2)});
      case FUSE_GETATTR:
        return reply(header, fuse_attr_out{.attr_valid = 100, .attr = attributes(header.nodeid)});
      case FUSE_OPEN:
        return reply(header, fuse_open_out{.fh = 1});
      case FUSE_FLUSH:
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;
      default:
        return send(header, -ENOSYS, {});
    }
  }

  static fuse_attr attributes(std::uint64_t node) {
    return {.ino = node, .mode = node == 1 ? S_IFDIR | 0755U : S_IFREG | 0666U, .nlink = 1};
  }

  template <class Body>
  void reply(const fuse_in_header& header, const Body& body) const {
    send(header, 0, std::as_bytes(std::span(&body, 1)));
  }
  void send(const fuse_in_header& header, int error, std::span<const std::byte> body) const {
    const fuse_out_header out{.len = static_cast<std::uint32_t>(sizeof out + body.size()),
                              .error = error,
                              .unique = header.unique};
    std::vector<std::byte> bytes(sizeof out + body.size());
    std::memcpy(bytes.data(), &out, sizeof out);
    if (!body.empty()) std::memcpy(bytes.data() + sizeof out, body.data(), body.size());
    static_cast<void>(::write(device_.get(), bytes.data(), bytes.size()) < 0);
  }

  std::string where_;
  Fd device_{::open("/dev/fuse", O_RDWR | O_CLOEXEC)};
  bool mounted_ = false;
  pid_t sender_ = -1;
  std::thread server_;
};

}  // namespace cellblock
