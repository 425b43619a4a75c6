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
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock {

/// A file of a FUSE file system that does not answer, until this ends: when a copy of it is closed
/// (flush), when what was written is to be written back, which its last close waits for, or when
/// anything at all is asked.
class UnansweringFile {
 public:
  enum class Withholds : std::uint8_t { flush, write, everything };

  /// `where`: an existing directory. Needs /dev/fuse and the right to mount.
  explicit UnansweringFile(const std::string& where, Withholds withholds = Withholds::flush)
      : where_(where), withholds_(withholds) {
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
    for (const pid_t sender : senders_) ::waitpid(sender, nullptr, 0);
  }

  bool usable() const { return mounted_; }

  /// By a process of its own, which then waits in the end of its own copy.
  bool send_into(int channel, std::span<const std::byte> record) {
    const std::string path = where_ + "/file";
    return in_child(channel, [&] {
      const std::array<int, 1> fds{::open(path.c_str(), O_RDWR)};
      return fds[0] >= 0 && send_record(channel, record, fds).has_value();
    });
  }

  /// From here the copy in the queue of `connection` is one whose close waits. Withholds::write.
  bool queue_into(int connection) {
    // Another one each time: to close a descriptor of one that is dirty waits already.
    const std::string path = where_ + "/file" + std::to_string(senders_.size());
    return in_child(connection, [&] {
      const int queued = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      const int written = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      const std::array<int, 1> fds{queued};
      if (!send_record(connection, std::as_bytes(std::span("x", 1)), fds, MSG_DONTWAIT))
        return false;
      ::close(queued);  // while nothing is dirty yet
      return ::pwrite(written, "x", 1, 0) == 1;
    });
  }

 private:
  // What the child holds stays open while its end waits: that must be nobody else's, nor the file
  // system's own device.
  static void close_all_but(int target, int answer) {
    for (int fd = 3; fd < 1024; ++fd) {
      if (fd != target && fd != answer) ::close(fd);
    }
  }

  /// In a process of its own, whose end may wait.
  bool in_child(int target, const std::function<bool()>& act) {
    auto done = make_pipe();
    if (!done) return false;
    const pid_t child = ::fork();
    if (child == 0) {
      close_all_but(target, done->second.get());
      static_cast<void>(!::write(done->second.get(), act() ? "y" : "n", 1));
      ::_exit(0);
    }
    senders_.push_back(child);
    done->second.reset();
    char answer = 'n';
    return ::read(done->first.get(), &answer, 1) == 1 && answer == 'y';
  }

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

  void answer(const fuse_in_header& header) {
    if (withholds_ == Withholds::everything && header.opcode != FUSE_INIT) return;
    switch (header.opcode) {
      case FUSE_INIT:
        return reply(header, fuse_init_out{.major = 7,
                                           .minor = 31,
                                           .flags = withholds_ == Withholds::write
                                                        ? std::uint32_t{FUSE_WRITEBACK_CACHE}
                                                        : 0U,
                                           .max_write = 4096});
      case FUSE_LOOKUP:
        return reply(header, fuse_entry_out{.nodeid = ++last_node_,
                                            .entry_valid = 100,
                                            .attr_valid = 100,
                                            .attr = attributes(last_node_)});
      case FUSE_GETATTR:
        return reply(header, fuse_attr_out{.attr_valid = 100, .attr = attributes(header.nodeid)});
      case FUSE_OPEN:
        return reply(header, fuse_open_out{.fh = 1});
      case FUSE_FLUSH:
        return withholds_ == Withholds::flush ? void() : send(header, -ENOSYS, {});
      case FUSE_WRITE:
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
  Withholds withholds_;
  Fd device_{::open("/dev/fuse", O_RDWR | O_CLOEXEC)};
  bool mounted_ = false;
  std::vector<pid_t> senders_;
  std::uint64_t last_node_ = FUSE_ROOT_ID;
  std::thread server_;
};

}  // namespace cellblock
