#include "policy/config_check/executable_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace cellblock {
namespace {

constexpr std::size_t digest_digits = 64;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_digest(const std::string& text) {
  return text.size() == digest_digits && std::ranges::all_of(text, is_hex);
}

const char* problem_of(PathKind kind) {
  switch (kind) {
    case PathKind::directory:
      return nullptr;
    case PathKind::missing:
      return "does not exist";
    case PathKind::file:
    case PathKind::other:
      break;
  }
  return "is no directory";
}

}  // namespace

std::optional<FileStamp> check_digest(const Scope& scope, const ServerText& text,
                                      const HostFacts& facts) {
  if (!text.sha256) return std::nullopt;
  std::string wanted = text.sha256->value;
  std::ranges::transform(wanted, wanted.begin(), lowered);
  if (!is_digest(wanted)) {
    scope.error(text.sha256->at, "sha256",
                fmt::format("\"{}\" is no SHA-256; allowed: 64 hexadecimal digits, as sha256sum "
                            "prints them",
                            text.sha256->value));
    return FileStamp{};
  }
  const auto found = facts.commands.find(text.name.value);
  if (found == facts.commands.end() || found->second.sha256.empty()) {
    scope.broken(text.sha256->at, "sha256",
                 "cannot be compared, since the file of `command` cannot be read");
    return FileStamp{};
  }
  const CommandFacts& command = found->second;
  if (command.sha256 == wanted) return command.stamp.value_or(FileStamp{});
  scope.broken(text.sha256->at, "sha256",
               fmt::format("{} has the SHA-256 {}, not this one; allowed: the digest of the file "
                           "that shall run, if it was changed on purpose",
                           command.host_path, command.sha256));
  return FileStamp{};
}

void check_program(const Scope& scope, const ServerText& text, const HostFacts& facts) {
  if (!text.program || scope.mentioned("program")) return;
  std::string path;
  check_path(scope, "program", text.program, path);
  if (path.empty()) return;
  const auto found = facts.programs.find(path);
  const PathKind kind = found == facts.programs.end() ? PathKind::missing : found->second.kind;
  if (const char* problem = problem_of(kind)) {
    scope.broken(text.program->at, "program",
                 fmt::format("\"{}\" {}; allowed: the directory that the server is installed in",
                             path, problem));
  } else if (!found->second.unsafe.empty()) {
    scope.broken(
        text.program->at, "program",
        fmt::format("somebody else could change what is in \"{0}\": {1}; allowed: a directory "
                    "that, with everything in it and above it, only root (or, rootless, "
                    "you) can change (chown -R root: {0}, since npm keeps the owners that a "
                    "package names; chmod -R go-w {0})",
                    path, found->second.unsafe));
  }
}

}  // namespace cellblock
