#include "tests/containment/probe_runner.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "policy/sandbox/probe_declaration.h"
#include "tests/containment/cell_runner.h"
#include "tests/containment/child_process.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

int listen_on(const sockaddr* address, socklen_t size, int type = SOCK_STREAM) {
  const int socket = ::socket(address->sa_family, type | SOCK_CLOEXEC, 0);
  const bool bound = socket >= 0 && ::bind(socket, address, size) == 0;
  if (!bound || (type == SOCK_STREAM && ::listen(socket, 64) < 0)) {
    throw std::runtime_error("a target cannot listen");
  }
  return socket;
}

int listen_locally(const std::string& name, int type = SOCK_STREAM) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  return listen_on(reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()), type);
}

std::string port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return std::to_string(ntohs(address.sin_port));
}

// Of the cells' own user, so that only the cell is in the way.
int start_bystander() {
  const pid_t process = ::fork();
  if (process != 0) return process;
  if (!become_cell_user()) ::_exit(1);
  while (true) ::pause();
}

std::string host_name() {
  utsname name{};
  ::uname(&name);
  return name.nodename;
}

// What a process may have by accident, and must not pass on: variables of a user's session, and an
// open directory that exec does not close.
void plant() {
  ::setenv(planted_variable, "4711", 1);             // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("XDG_RUNTIME_DIR", "/run/user/4711", 1);  // NOLINT(concurrency-mt-unsafe)
  static const int directory = ::open("/", O_PATH | O_DIRECTORY);  // NOLINT: inherited on purpose
  if (directory < 0) throw std::runtime_error("the root cannot be opened");
}

Answers read_answers(const std::string& text) {
  Answers answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, '\t');) cells.push_back(cell);
    cells.resize(7);
    answers[cells[0]] = {cells[1], cells[2], cells[3], cells[4], cells[5]};
  }
  return answers;
}

}  // namespace

ProbeTargets::ProbeTargets(const harness::TestDirectory& directory)
    : file_(directory.write("public", "for everybody", 0644)),
      socket_path_(directory.make_directory("bin") + "/socket"),
      datagram_path_(directory.path("bin/datagrams")),
      abstract_name_("cellblock-probe-" + std::to_string(::getpid())) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockets_.push_back(listen_on(reinterpret_cast<sockaddr*>(&address), sizeof address));
  port_ = port_of(sockets_.back());
  sockets_.push_back(listen_locally(socket_path_));
  ::chmod(socket_path_.c_str(), 0777);
  sockets_.push_back(listen_locally(datagram_path_, SOCK_DGRAM));
  ::chmod(datagram_path_.c_str(), 0777);
  sockets_.push_back(listen_locally(std::string(1, '\0') + abstract_name_));
  process_ = start_bystander();
}

ProbeTargets::~ProbeTargets() {
  for (const int socket : sockets_) ::close(socket);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::vector<std::string> ProbeTargets::words() const {
  std::vector<std::string> words;
  for (const std::string& target :
       {"tcp=127.0.0.1:" + port_, "abstract_socket=" + abstract_name_,
        "unix_socket=" + socket_path_, "datagram_socket=" + datagram_path_, "file=" + file_,
        std::string("variable=") + planted_variable, "host_name=" + host_name(),
        "process=" + std::to_string(process_)}) {
    words.emplace_back("--target");
    words.push_back(target);
  }
  return words;
}

std::vector<std::string> probe_command(const harness::TestDirectory& directory,
                                       const ProbeTargets& targets,
                                       const std::vector<std::string>& more) {
  std::vector<std::string> command = {directory.install("cellblock-probe"), "--run", "--tsv"};
  const std::vector<std::string> words = targets.words();
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

Answers probe_outside(const harness::TestDirectory& directory, const ProbeTargets& targets,
                      Outside who, const std::vector<std::string>& more) {
  plant();
  return read_answers(whole_output_outside(probe_command(directory, targets, more), who));
}

Answers probe_inside(const harness::TestDirectory& directory, const ProbeTargets& targets,
                     Server server, std::string& trouble, const std::vector<std::string>& more) {
  CellSpec spec;
  spec.server = std::move(server);
  spec.server.name = "probe";
  spec.server.binds.push_back({directory.path("bin"), directory.path("bin"), Access::read});
  std::vector<std::string> all = {
      "--declared", to_text(probe_declaration(spec.server, {.landlock_abi = landlock_here()}))};
  all.insert(all.end(), more.begin(), more.end());
  spec.server.command = probe_command(directory, targets, all);
  spec.in_launcher = plant;
  const CellRun run = run_in_cell(directory, spec);
  trouble = run.trouble;
  const bool ended_well = run.facts.kind == EndKind::exited && run.facts.exit_code == 0;
  if (trouble.empty() && !ended_well) {
    trouble = "the probe did not end by itself: step " + std::string(name_of(run.facts.step)) +
              ", errno " + std::to_string(run.facts.error) + ", exit code " +
              std::to_string(run.facts.exit_code) + ", signal " + std::to_string(run.facts.signal);
  }
  return read_answers(run.output);
}

}  // namespace cellblock::containment
