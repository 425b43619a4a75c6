#include "policy/config_check/image_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

namespace cellblock {
namespace {

constexpr const char* allowed_image =
    "allowed: the root directory of an unpacked image (umoci unpack, its rootfs)";

std::optional<std::string> problem_of_link(const std::string& path, const HostFacts& facts) {
  const auto found = facts.sources.find(path);
  if (found == facts.sources.end()) return std::nullopt;
  const std::string& resolved = found->second.resolved;
  if (resolved.empty() || resolved == path) return std::nullopt;
  return fmt::format("\"{}\" is reached through a symbolic link; allowed: \"{}\"", path, resolved);
}

std::optional<std::string> problem_of_others(const std::string& path, const PathsAround& around) {
  const std::string others = who_can_change(path, around);
  if (others.empty()) return std::nullopt;
  return fmt::format(
      "somebody else could change \"{}\": {}; allowed: an image in a directory that only root (or, "
      "rootless, you) can change",
      path, others);
}

std::optional<std::string> problem_of_tree(const std::string& path, const HostFacts& facts) {
  const auto found = facts.images.find(path);
  if (found == facts.images.end() || found->second.kind == PathKind::missing) {
    return fmt::format("\"{}\" does not exist; {}", path, allowed_image);
  }
  if (found->second.kind != PathKind::directory) {
    return fmt::format("\"{}\" is no directory; {}", path, allowed_image);
  }
  if (found->second.unsafe.empty()) return std::nullopt;
  return fmt::format(
      "somebody else could change what is in \"{0}\": {1}; allowed: an unpacked image that, with "
      "everything in it and above it, only root (or, rootless, you) can change (chown -R root: "
      "{0}; "
      "chmod -R go-w {0}), without devices, sockets and pipes",
      path, found->second.unsafe);
}

std::optional<std::string> problem_of_image(const std::string& path, const PathsAround& around) {
  if (auto problem = problem_of_link(path, around.facts)) return problem;
  if (auto problem = problem_of_others(path, around)) return problem;
  return problem_of_tree(path, around.facts);
}

}  // namespace

std::string check_image(const Scope& scope, const ServerText& text, const PathsAround& around,
                        PathFindings& found) {
  std::string path;
  if (!text.image || scope.mentioned("image")) return path;
  check_path(scope, "image", text.image, path);
  if (path.empty()) return path;
  const TextAt written{path, text.image->at};
  const std::size_t errors_before = scope.complaints.error_count();
  check_shown(scope, "image", written, around, found);
  if (scope.complaints.error_count() != errors_before || scope.mentioned("image")) return path;
  if (auto problem = problem_of_image(path, around)) scope.broken(written.at, "image", *problem);
  return path;
}

std::string check_working_directory(const Scope& scope, const ServerText& text) {
  std::string path;
  check_path(scope, "working_directory", text.working_directory, path);
  return path;
}

}  // namespace cellblock
