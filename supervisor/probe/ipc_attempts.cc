#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

Outcome make_segment(const Setting&) {
  const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  const Outcome outcome = from_call(id);
  if (id >= 0) ::shmctl(id, IPC_RMID, nullptr);
  return outcome;
}
Outcome list_segments(const Setting&) {
  shm_info info{};
  return from_call(::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info)));
}
Outcome make_semaphore(const Setting&) {
  const int id = ::semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  const Outcome outcome = from_call(id);
  if (id >= 0) ::semctl(id, 0, IPC_RMID);
  return outcome;
}
Outcome make_queue(const Setting&) {
  const int id = ::msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  const Outcome outcome = from_call(id);
  if (id >= 0) ::msgctl(id, IPC_RMID, nullptr);
  return outcome;
}
Outcome make_posix_queue(const Setting&) {
  constexpr char name[] = "/cellblock-probe";
  const mqd_t queue = ::mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, nullptr);
  const Outcome outcome = from_call(queue);
  if (queue >= 0) ::mq_unlink(name);
  return outcome;
}

long keyctl(int operation, long first, long second) {
  return ::syscall(SYS_keyctl, operation, first, second, 0, 0);
}
Outcome find_user_keys(const Setting&) {
  return from_call(keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1));
}
Outcome find_session_keys(const Setting&) {
  return from_call(keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
}
Outcome join_keyring(const Setting&) {
  return from_call(::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr));
}
Outcome add_key(const Setting&) {
  return from_call(
      ::syscall(SYS_add_key, "user", "cellblock-probe", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}
// Without callout information the kernel starts no helper: it looks, and does not find.
Outcome request_key(const Setting&) {
  return from_harmless_call(::syscall(SYS_request_key, "user", "cellblock-probe", nullptr, 0));
}

constexpr Attempt attempts[] = {
    {"make_shared_segment", "memory that outlives it is left behind", make_segment, Danger::none,
     "shmget"},
    {"list_shared_segments", "shared memory of others is in sight", list_segments, Danger::none,
     "shmctl"},
    {"make_semaphore", "objects that outlive it are left behind", make_semaphore, Danger::none,
     "semget"},
    {"make_message_queue", "messages that outlive it are left behind", make_queue, Danger::none,
     "msgget"},
    {"make_posix_message_queue", "messages that outlive it are left behind", make_posix_queue,
     Danger::none, "mq_open"},
    {"find_user_keyring", "keys of the same user can be found", find_user_keys},
    {"find_session_keyring", "keys of whoever started it can be found", find_session_keys},
    {"join_session_keyring", "keys of others can be joined", join_keyring},
    {"add_key", "the kernel keeps data for it", add_key},
    {"request_key", "the kernel starts a helper for it, as root", request_key},
};

}  // namespace

std::span<const Attempt> ipc_attempts() { return attempts; }

}  // namespace cellblock::probe
