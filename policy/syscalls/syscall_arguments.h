#pragma once

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "policy/syscalls/syscall_policy.h"

/// The calls that a server may make with some arguments only.
namespace cellblock::argument_rules {

inline constexpr std::uint32_t every_bit = 0xffff'ffff;

constexpr ArgumentTest equals(std::uint8_t argument, std::uint32_t value) {
  return {argument, every_bit, value};
}
constexpr ArgumentTest lacks(std::uint8_t argument, std::uint32_t bits) {
  return {argument, bits, 0};
}

// --- processes -----------------------------------------------------------------------------------

inline constexpr std::uint32_t new_namespace = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                               CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                               CLONE_NEWNET;
static_assert(new_namespace ==
              0x7e02'0000);  // CLONE_NEWTIME overlaps the exit signal: not in clone

inline constexpr ArgumentRule clone_rules[] = {allow_when({lacks(0, new_namespace)})};
inline constexpr ArgumentRule personality_rules[] = {
    allow_when({equals(0, 0)}),          // PER_LINUX, what it is already
    allow_when({equals(0, every_bit)}),  // a question, which changes nothing
};

inline constexpr RuledCall processes[] = {
    {"clone", "threads and children, but no namespace in which they would have capabilities",
     clone_rules, EPERM},
    {"personality", "other personalities switch off address randomisation and fence mappings",
     personality_rules, EPERM},
};

// Init and guardian run under the server's uid: with a limit of its choice on their processor time
// or descriptors a server could end them, and tell its end as it likes.
inline constexpr ArgumentRule prlimit_rules[] = {allow_when({equals(0, 0)})};

inline constexpr RuledCall scheduling[] = {
    {"prlimit64", "its own limits, which is how the C library reads and lowers them", prlimit_rules,
     EPERM},
};

// --- a process about itself ----------------------------------------------------------------------

inline constexpr std::uint32_t name_mapping = 0x5356'4d41;  // PR_SET_VMA, newer than some headers
inline constexpr std::uint32_t refuse_write_exec = 65;      // PR_SET_MDWE
inline constexpr std::uint32_t write_exec_refused = 66;     // PR_GET_MDWE

inline constexpr ArgumentRule prctl_rules[] = {
    allow_when({equals(0, PR_SET_NAME)}),
    allow_when({equals(0, PR_GET_NAME)}),
    allow_when({equals(0, name_mapping)}),
    allow_when({equals(0, PR_SET_PDEATHSIG)}),
    allow_when({equals(0, PR_GET_PDEATHSIG)}),
    allow_when({equals(0, PR_SET_DUMPABLE)}),  // core files stay off by RLIMIT_CORE
    allow_when({equals(0, PR_GET_DUMPABLE)}),
    allow_when({equals(0, PR_SET_CHILD_SUBREAPER)}),
    allow_when({equals(0, PR_GET_CHILD_SUBREAPER)}),
    allow_when({equals(0, PR_SET_TIMERSLACK)}),
    allow_when({equals(0, PR_GET_TIMERSLACK)}),
    allow_when({equals(0, PR_SET_THP_DISABLE)}),
    allow_when({equals(0, PR_GET_THP_DISABLE)}),
    allow_when({equals(0, PR_SET_NO_NEW_PRIVS)}),
    allow_when({equals(0, PR_GET_NO_NEW_PRIVS)}),
    allow_when({equals(0, PR_GET_SECCOMP)}),
    allow_when({equals(0, PR_GET_KEEPCAPS)}),
    allow_when({equals(0, PR_GET_SECUREBITS)}),
    allow_when({equals(0, PR_CAPBSET_READ)}),
    allow_when({equals(0, PR_GET_SPECULATION_CTRL)}),
    allow_when({equals(0, refuse_write_exec)}),
    allow_when({equals(0, write_exec_refused)}),
    // Not a gain while every set is empty, but named so that the answer does not look like a kernel
    // that has never heard of them.
    refuse_when(EPERM, {equals(0, PR_SET_MM)}),
    refuse_when(EPERM, {equals(0, PR_SET_SECUREBITS)}),
    refuse_when(EPERM, {equals(0, PR_CAPBSET_DROP)}),
    refuse_when(EPERM, {equals(0, PR_SET_KEEPCAPS)}),
    refuse_when(EPERM, {equals(0, PR_SET_PTRACER)}),
};

inline constexpr ArgumentRule seccomp_rules[] = {
    // With a listener a server could answer the calls of its own children and lie to them.
    refuse_when(EPERM, {equals(0, SECCOMP_SET_MODE_FILTER),
                        {1, SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_NEW_LISTENER}}),
    allow_when({equals(0, SECCOMP_SET_MODE_FILTER)}),
    allow_when({equals(0, SECCOMP_GET_ACTION_AVAIL)}),
};

inline constexpr RuledCall self_control[] = {
    {"prctl", "names, death signals and locks on oneself", prctl_rules, EINVAL, Reporting::quiet},
};

/// What an admin allows by name is allowed with these arguments only.
inline constexpr RuledCall allowed_by_name[] = {
    {"seccomp", "a server may fence in its own children further", seccomp_rules, EPERM},
};

// --- memory --------------------------------------------------------------------------------------

// `write_exec = "refused"`. A page is writable or executable from its making on, and never gets the
// other. /proc/self/mem, which writes past protections, is kept by Landlock: /proc is only read.
inline constexpr ArgumentRule never_both_rules[] = {allow_when({lacks(2, PROT_WRITE)}),
                                                    allow_when({lacks(2, PROT_EXEC)})};
inline constexpr ArgumentRule never_executable_rules[] = {allow_when({lacks(2, PROT_EXEC)})};
inline constexpr ArgumentRule not_attached_executable_rules[] = {allow_when({lacks(2, SHM_EXEC)})};

inline constexpr std::string_view no_new_code =
    "no memory is writable and executable, or becomes executable later: `write_exec`";

inline constexpr RuledCall write_exec_refused_calls[] = {
    {"mmap", no_new_code, never_both_rules, EACCES},
    {"mprotect", no_new_code, never_executable_rules, EACCES},
    {"pkey_mprotect", no_new_code, never_executable_rules, EACCES},
    {"shmat", no_new_code, not_attached_executable_rules, EACCES},
    // Mapped twice, once to write and once to execute, it is both.
    {"memfd_create", no_new_code, {}, EACCES},
};

// --- devices -------------------------------------------------------------------------------------

inline constexpr std::uint32_t get_terminal_2 =
    0x802c'542a;  // TCGETS2: isatty() of glibc 2.42 and later

inline constexpr ArgumentRule ioctl_rules[] = {
    // Input into the terminal of the process that started the daemon (CVE-2017-5226,
    // CVE-2023-28100).
    refuse_when(EPERM, {equals(1, TIOCSTI)}),
    refuse_when(EPERM, {equals(1, TIOCLINUX)}),
    refuse_when(EPERM, {equals(1, TIOCSCTTY)}),
    refuse_when(EPERM, {equals(1, TIOCSETD)}),
    allow_when({equals(1, TCGETS)}),
    allow_when({equals(1, get_terminal_2)}),
    allow_when({equals(1, TCSETS)}),
    allow_when({equals(1, TCSETSW)}),
    allow_when({equals(1, TCSETSF)}),
    allow_when({equals(1, TCFLSH)}),
    allow_when({equals(1, TIOCGWINSZ)}),
    allow_when({equals(1, TIOCSWINSZ)}),
    allow_when({equals(1, TIOCGPGRP)}),
    allow_when({equals(1, TIOCSPGRP)}),
    allow_when({equals(1, FIONREAD)}),
    allow_when({equals(1, FIONBIO)}),
    allow_when({equals(1, FIOASYNC)}),
    allow_when({equals(1, FIOCLEX)}),
    allow_when({equals(1, FIONCLEX)}),
    allow_when({equals(1, FICLONE)}),
    allow_when({equals(1, FICLONERANGE)}),
    allow_when({equals(1, FS_IOC_GETFLAGS)}),
};

// The kernel counts the pages of a user's pipes, and a cell's standard pipes are cellblock's: a few
// cells with large ones would leave every other cell pipes of two pages.
inline constexpr ArgumentRule fcntl_rules[] = {
    refuse_when(EPERM, {equals(1, F_SETPIPE_SZ)}),
    allow_when({equals(1, F_DUPFD)}),
    allow_when({equals(1, F_DUPFD_CLOEXEC)}),
    allow_when({equals(1, F_GETFD)}),
    allow_when({equals(1, F_SETFD)}),
    allow_when({equals(1, F_GETFL)}),
    allow_when({equals(1, F_SETFL)}),
    allow_when({equals(1, F_GETLK)}),
    allow_when({equals(1, F_SETLK)}),
    allow_when({equals(1, F_SETLKW)}),
    allow_when({equals(1, F_OFD_GETLK)}),
    allow_when({equals(1, F_OFD_SETLK)}),
    allow_when({equals(1, F_OFD_SETLKW)}),
    allow_when({equals(1, F_GETOWN)}),
    allow_when({equals(1, F_SETOWN)}),
    allow_when({equals(1, F_GETOWN_EX)}),
    allow_when({equals(1, F_SETOWN_EX)}),
    allow_when({equals(1, F_GETSIG)}),
    allow_when({equals(1, F_SETSIG)}),
    allow_when({equals(1, F_GETLEASE)}),
    allow_when({equals(1, F_NOTIFY)}),
    allow_when({equals(1, F_GETPIPE_SZ)}),
    allow_when({equals(1, F_ADD_SEALS)}),
    allow_when({equals(1, F_GET_SEALS)}),
    allow_when({equals(1, F_GET_RW_HINT)}),
    allow_when({equals(1, F_SET_RW_HINT)}),
    allow_when({equals(1, F_GET_FILE_RW_HINT)}),
    allow_when({equals(1, F_SET_FILE_RW_HINT)}),
};

inline constexpr RuledCall descriptors[] = {
    {"ioctl",
     "terminals, pipes and copies only; ENOTTY is what programs expect of a device that cannot",
     ioctl_rules, ENOTTY, Reporting::quiet},
    {"fcntl",
     "all but the size of pipes, the standard ones being on the daemon's account, and leases, "
     "which hold up whoever opens the file",
     fcntl_rules, EINVAL},
};

// --- file modes ----------------------------------------------------------------------------------

// A file that a cell makes in a shared directory must not carry the cell's identity to a user who
// runs it outside, where no nosuid mount protects that user.
inline constexpr std::uint32_t identity_bits = S_ISUID | S_ISGID;
inline constexpr std::uint32_t makes_a_file = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

inline constexpr ArgumentRule mode_in_1[] = {allow_when({lacks(1, identity_bits)})};
inline constexpr ArgumentRule mode_in_2[] = {allow_when({lacks(2, identity_bits)})};
// Without O_CREAT the mode is whatever the register held.
inline constexpr ArgumentRule open_rules[] = {allow_when({lacks(1, makes_a_file)}),
                                              allow_when({lacks(2, identity_bits)})};
inline constexpr ArgumentRule openat_rules[] = {allow_when({lacks(2, makes_a_file)}),
                                                allow_when({lacks(3, identity_bits)})};

constexpr ArgumentTest makes(std::uint8_t argument, std::uint32_t type) {
  return {argument, S_IFMT | identity_bits, type};
}
inline constexpr ArgumentRule mknod_rules[] = {
    allow_when({makes(1, 0)}), allow_when({makes(1, S_IFREG)}), allow_when({makes(1, S_IFIFO)})};
inline constexpr ArgumentRule mknodat_rules[] = {
    allow_when({makes(2, 0)}), allow_when({makes(2, S_IFREG)}), allow_when({makes(2, S_IFIFO)})};

inline constexpr std::string_view no_set_id =
    "no file with a set-user-id or set-group-id bit is made";
inline constexpr std::string_view no_device = "plain files and named pipes; no device nodes";

inline constexpr RuledCall file_modes[] = {
    {"open", no_set_id, open_rules, EPERM},       {"openat", no_set_id, openat_rules, EPERM},
    {"creat", no_set_id, mode_in_1, EPERM},       {"chmod", no_set_id, mode_in_1, EPERM},
    {"fchmod", no_set_id, mode_in_1, EPERM},      {"fchmodat", no_set_id, mode_in_2, EPERM},
    {"fchmodat2", no_set_id, mode_in_2, EPERM},   {"mknod", no_device, mknod_rules, EPERM},
    {"mknodat", no_device, mknodat_rules, EPERM},
};

// --- sockets -------------------------------------------------------------------------------------

constexpr ArgumentTest family(std::uint32_t value) { return equals(0, value); }
constexpr ArgumentTest type(std::uint32_t value) {
  return {1, ~std::uint32_t{SOCK_NONBLOCK | SOCK_CLOEXEC}, value};
}
constexpr ArgumentTest protocol(std::uint32_t value) { return equals(2, value); }

// The protocol counts: 262 is MPTCP, which Landlock's TCP rights do not know.
inline constexpr std::array<ArgumentRule, 8> internet = {
    allow_when({family(AF_INET), type(SOCK_STREAM), protocol(0)}),
    allow_when({family(AF_INET), type(SOCK_STREAM), protocol(IPPROTO_TCP)}),
    allow_when({family(AF_INET), type(SOCK_DGRAM), protocol(0)}),
    allow_when({family(AF_INET), type(SOCK_DGRAM), protocol(IPPROTO_UDP)}),
    allow_when({family(AF_INET6), type(SOCK_STREAM), protocol(0)}),
    allow_when({family(AF_INET6), type(SOCK_STREAM), protocol(IPPROTO_TCP)}),
    allow_when({family(AF_INET6), type(SOCK_DGRAM), protocol(0)}),
    allow_when({family(AF_INET6), type(SOCK_DGRAM), protocol(IPPROTO_UDP)}),
};

// No datagram pairs: an end of one can be turned to any socket that a path or a name leads to.
inline constexpr std::array<ArgumentRule, 2> local = {
    allow_when({family(AF_UNIX), type(SOCK_STREAM), protocol(0)}),
    allow_when({family(AF_UNIX), type(SOCK_SEQPACKET), protocol(0)}),
};

inline constexpr ArgumentRule routes =
    allow_when({family(AF_NETLINK), {1, 0, 0}, protocol(NETLINK_ROUTE)});

inline constexpr std::array<ArgumentRule, 9> private_socket_rules = {
    internet[0], internet[1], internet[2], internet[3], internet[4],
    internet[5], internet[6], internet[7], routes};

// Datagrams over IPv4 are for questions to the cell's resolver, for which no name exists. EACCES is
// what socket(2) promises for "permission to create a socket of the specified type is denied";
// programs that probe for a network take it for "there is none".
inline constexpr ArgumentRule no_internet_rules[] = {
    internet[2], internet[3], refuse_when(EACCES, {family(AF_INET)}),
    refuse_when(EACCES, {family(AF_INET6)}), routes};

// As above, and Unix sockets of the cell's own with a path or an abstract name: a browser's
// processes find each other by them.
inline constexpr std::array<ArgumentRule, 7> no_internet_own_rules = {local[0],
                                                                      local[1],
                                                                      no_internet_rules[0],
                                                                      no_internet_rules[1],
                                                                      no_internet_rules[2],
                                                                      no_internet_rules[3],
                                                                      no_internet_rules[4]};
inline constexpr std::array<ArgumentRule, 11> private_own_rules = {
    internet[0], internet[1], internet[2], internet[3], internet[4], internet[5],
    internet[6], internet[7], local[0],    local[1],    routes};

inline constexpr std::string_view pairs = "pipes in both directions: every asyncio loop has one";

inline constexpr RuledCall closed_sockets[] = {
    // Routes are those of the cell's own empty namespace; node's os.networkInterfaces() throws
    // without them.
    {"socket", "no Internet sockets but for names: `network = \"none\"`", no_internet_rules,
     EAFNOSUPPORT},
    {"socketpair", pairs, local, EAFNOSUPPORT},
};

inline constexpr RuledCall private_sockets[] = {
    // No Unix sockets: neither a namespace nor a read-only mount keeps a cell from a socket that
    // another user's server left in a declared directory. Socket pairs stay, which reach no other
    // process. For the others the network namespace is the wall, not this rule.
    {"socket", "TCP and UDP sockets; no Unix, VSOCK, packet, raw, MPTCP or crypto sockets",
     private_socket_rules, EAFNOSUPPORT},
    {"socketpair", pairs, local, EAFNOSUPPORT},
};

inline constexpr RuledCall closed_browser_sockets[] = {
    {"socket", "Unix sockets, no Internet sockets but for names: `network = \"none\"`",
     no_internet_own_rules, EAFNOSUPPORT},
    {"socketpair", pairs, local, EAFNOSUPPORT},
};

inline constexpr RuledCall private_browser_sockets[] = {
    {"socket", "TCP, UDP and Unix sockets; no VSOCK, packet, raw, MPTCP or crypto sockets",
     private_own_rules, EAFNOSUPPORT},
    {"socketpair", pairs, local, EAFNOSUPPORT},
};

inline constexpr RuledCall host_sockets[] = {
    // Abstract Unix sockets belong to the network namespace: in the host's, D-Bus, X11 and
    // container daemons listen there with no file to protect them. Routes would show the host's
    // neighbours.
    {"socket", "TCP and UDP only", internet, EAFNOSUPPORT},
    {"socketpair", pairs, local, EAFNOSUPPORT},
};

}  // namespace cellblock::argument_rules
