#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

constexpr int last_descriptor = 65'536;

bool is_leak(const Setting& setting, int descriptor) {
  return descriptor != setting.reply && ::fcntl(descriptor, F_GETFD) >= 0;
}

Outcome keep_descriptor(const Setting& setting) {
  for (int descriptor = 3; descriptor < last_descriptor; ++descriptor) {
    if (is_leak(setting, descriptor)) return opened("descriptor " + std::to_string(descriptor));
  }
  return held(EBADF);
}

// Which leads out by itself, past every mount (CVE-2024-21626).
Outcome leave_by_directory(const Setting& setting) {
  for (int descriptor = 3; descriptor < last_descriptor; ++descriptor) {
    struct stat about{};
    if (!is_leak(setting, descriptor) || ::fstat(descriptor, &about) < 0) continue;
    if (S_ISDIR(about.st_mode)) return opened("descriptor " + std::to_string(descriptor));
  }
  return held(EBADF);
}

Outcome stand_outside(const Setting&) {
  std::array<char, 4096> path{};
  if (::getcwd(path.data(), path.size()) == nullptr) return held(errno);
  // The kernel's word for a directory that is not below the root.
  return std::string_view(path.data()).starts_with("(unreachable)") ? opened()
                                                                    : held("it is below the root");
}

Outcome see_target_variable(const Setting& setting) {
  const std::string& name = setting.targets.variable;
  if (name.empty()) return not_applicable("no target was named: variable");
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  return std::getenv(name.c_str()) != nullptr ? opened() : held(ENOENT);
}

Outcome see_session(const Setting&) {
  for (const char* name : {"SSH_AUTH_SOCK",
                           "SSH_CONNECTION",
                           "SUDO_USER",
                           "SUDO_COMMAND",
                           "LOGNAME",
                           "MAIL",
                           "DBUS_SESSION_BUS_ADDRESS",
                           "XDG_RUNTIME_DIR",
                           "DISPLAY",
                           "WAYLAND_DISPLAY",
                           "OLDPWD",
                           "INVOCATION_ID",
                           "JOURNAL_STREAM",
                           "NOTIFY_SOCKET",
                           "KUBECONFIG",
                           "AWS_SECRET_ACCESS_KEY",
                           "GITHUB_TOKEN",
                           "ANTHROPIC_API_KEY",
                           "OPENAI_API_KEY",
                           "NPM_TOKEN"}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    if (std::getenv(name) != nullptr) return opened(name);
  }
  return held(ENOENT);
}

Outcome know_host_name(const Setting& setting) {
  if (setting.targets.host_name.empty()) return not_applicable("no target was named: host_name");
  utsname name{};
  ::uname(&name);
  return setting.targets.host_name == name.nodename ? opened() : held("it has another name");
}

constexpr Attempt attempts[] = {
    {"keep_descriptor", "something of whoever started it is still open", keep_descriptor},
    {"leave_by_directory", "an open directory leads out of the root", leave_by_directory},
    {"stand_outside", "its working directory leads out of the root", stand_outside},
    {"see_host_variable", "variables of whoever started it are in its environment",
     see_target_variable},
    {"see_session_variables", "sessions and tokens of the user are in its environment",
     see_session},
    {"know_host_name", "the machine is known by name", know_host_name},
};

}  // namespace

std::span<const Attempt> environment_attempts() { return attempts; }

}  // namespace cellblock::probe
