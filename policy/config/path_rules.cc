#include "policy/config/path_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t longest_path = 4095;
constexpr std::size_t longest_part = 255;

struct Refusal {
  std::string_view path;
  std::string_view reason;
};

// Refused with everything below them.
constexpr Refusal closed_sources[] = {
    {"/proc", "shows the host's processes"},
    {"/sys", "is the host's kernel interface"},
    {"/dev", "holds the host's devices"},
    {"/run", "holds the sockets of the host's services"},
    {"/var/run", "holds the sockets of the host's services"},
};

// Refused by themselves; parts of them may be named.
constexpr Refusal too_broad_sources[] = {
    {"/", "is the whole host"},
    {"/etc", "holds the host's accounts and keys: name the part that is needed"},
    {"/var", "holds the state of every service: name the part that is needed"},
};

// The cell's own, with everything below them.
constexpr Refusal closed_targets[] = {
    {"/usr", "is the host's own there, read-only: what is in it is visible already"},
    {"/bin", "is the host's own there, read-only: what is in it is visible already"},
    {"/sbin", "is the host's own there, read-only: what is in it is visible already"},
    {"/lib", "is the host's own there, read-only: what is in it is visible already"},
    {"/lib32", "is the host's own there, read-only: what is in it is visible already"},
    {"/lib64", "is the host's own there, read-only: what is in it is visible already"},
    {"/libx32", "is the host's own there, read-only: what is in it is visible already"},
    {"/proc", "is the cell's own"},
    {"/sys", "does not exist in a cell"},
    {"/dev", "is the cell's own"},
    {"/tmp", "is the cell's own, made anew for each cell"},
    {"/run/secrets", "holds the server's secrets"},
    {"/home/mcp", "is the server's home directory, mounted over what would be there"},
};

// The cell's own; something may be put below them.
constexpr std::string_view own_targets[] = {
    "/",
    "/etc",
    "/home",
    "/run",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl",
    "/etc/ssl/certs",
    "/etc/alternatives",
};

// Debian's /usr/bin/java and the like lead through /etc/alternatives.
constexpr std::string_view seen_by_every_cell[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives"};

// What a cell has of its own where an image may have something.
constexpr std::string_view hidden_in_images[] = {"/proc",
                                                 "/sys",
                                                 "/dev",
                                                 "/tmp",
                                                 "/run/secrets",
                                                 "/home/mcp",
                                                 "/etc/passwd",
                                                 "/etc/group",
                                                 "/etc/hosts",
                                                 "/etc/localtime",
                                                 "/etc/resolv.conf",
                                                 "/etc/nsswitch.conf"};

std::optional<std::string> part_problem(std::string_view part) {
  if (part.empty()) return "has an empty part (\"//\", or \"/\" at the end)";
  if (part == "." || part == "..") return fmt::format("has a \"{}\" in it", part);
  if (part.size() > longest_part) return "has a part of more than 255 bytes";
  return std::nullopt;
}

const Bind* innermost_of(std::string_view cell_path, std::span<const Bind> binds) {
  const Bind* innermost = nullptr;
  for (const Bind& bind : binds) {
    if (!is_at_or_below(cell_path, bind.target)) continue;
    if (innermost == nullptr || bind.target.size() > innermost->target.size()) innermost = &bind;
  }
  return innermost;
}

std::string host_path_in(const Bind& bind, std::string_view cell_path) {
  return bind.source + std::string(cell_path.substr(bind.target.size()));
}

std::optional<std::string> path_in_image(std::string_view cell_path, std::string_view image) {
  for (const std::string_view own : hidden_in_images) {
    if (is_at_or_below(cell_path, own)) return std::nullopt;
  }
  return std::string(image) + std::string(cell_path);
}

void hold_above(std::string_view target, std::span<const Bind> binds, std::vector<Bind>& held) {
  for (std::size_t end = target.rfind('/'); end != 0 && end != std::string_view::npos;
       end = target.rfind('/', end - 1)) {
    const std::string_view directory = target.substr(0, end);
    const Bind* outer = innermost_of(directory, binds);
    if (outer == nullptr) return;
    if (outer->target == directory || outer->access == Access::read) continue;
    held.push_back({host_path_in(*outer, directory), std::string(directory), Access::write});
  }
}

}  // namespace

std::optional<std::string> path_problem(std::string_view path) {
  if (!path.starts_with('/')) return "is not absolute";
  if (path.size() > longest_path) return "is longer than 4095 bytes";
  if (path.find('\0') != std::string_view::npos) return "has a NUL in it";
  if (path == "/") return std::nullopt;
  for (std::size_t start = 1; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    if (auto problem = part_problem(path.substr(start, end - start))) return problem;
    start = end + 1;
  }
  return std::nullopt;
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

Result<Bind> parse_bind(std::string_view text, Access access) {
  constexpr std::string_view allowed =
      "allowed: \"/source\" or \"/source:/target\", absolute and without \".\", \"..\" and \"//\"";
  const std::size_t colon = text.find(':');
  const std::string_view source = text.substr(0, colon);
  const std::string_view target = colon == std::string_view::npos ? source : text.substr(colon + 1);
  if (target.find(':') != std::string_view::npos) {
    return fail(fmt::format("\"{}\" has more than one \":\"; {}", text, allowed));
  }
  for (const std::string_view path : {source, target}) {
    if (auto problem = path_problem(path)) {
      return fail(fmt::format("\"{}\" {}; {}", path, *problem, allowed));
    }
  }
  return Bind{std::string(source), std::string(target), access};
}

std::optional<std::string> source_problem(std::string_view source) {
  for (const Refusal& refusal : closed_sources) {
    if (is_at_or_below(source, refusal.path)) {
      return fmt::format("{} {}", refusal.path, refusal.reason);
    }
  }
  for (const Refusal& refusal : too_broad_sources) {
    if (source == refusal.path) return fmt::format("{} {}", refusal.path, refusal.reason);
  }
  return std::nullopt;
}

std::optional<std::string> target_problem(std::string_view target) {
  for (const Refusal& refusal : closed_targets) {
    if (is_at_or_below(target, refusal.path)) {
      return fmt::format("{} {}", refusal.path, refusal.reason);
    }
  }
  if (std::ranges::find(own_targets, target) != std::end(own_targets)) {
    return fmt::format("{} is the cell's own", target);
  }
  return std::nullopt;
}

std::optional<std::string> home_name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.starts_with('/')) return "is absolute";
  return path_problem(fmt::format("{}/{}", home_in_cell, name));
}

bool is_home_file(const Bind& bind) { return is_at_or_below(bind.target, home_in_cell); }

std::span<const std::string_view> system_directories() { return seen_by_every_cell; }

std::optional<std::string> host_path_of(std::string_view cell_path, std::span<const Bind> binds,
                                        std::string_view image) {
  if (const Bind* innermost = innermost_of(cell_path, binds)) {
    return host_path_in(*innermost, cell_path);
  }
  if (!image.empty()) return path_in_image(cell_path, image);
  for (const std::string_view directory : seen_by_every_cell) {
    if (is_at_or_below(cell_path, directory)) return std::string(cell_path);
  }
  return std::nullopt;
}

std::vector<Bind> held_directories(std::span<const Bind> binds) {
  std::vector<Bind> held;
  for (const Bind& bind : binds) {
    if (bind.access == Access::read) hold_above(bind.target, binds, held);
  }
  std::ranges::sort(held, {}, &Bind::target);
  const auto rest = std::ranges::unique(held);
  held.erase(rest.begin(), rest.end());
  return held;
}

}  // namespace cellblock
