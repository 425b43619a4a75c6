#include "client/cli/learn/learned_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Kind = Remedy::Kind;
using Operations = std::vector<RefusedOperation>;

std::string times(std::uint64_t count) {
  return count == 1 ? std::string("once") : fmt::format("{} times", count);
}

std::string comment(std::string_view text) { return "# " + safe_line(text) + "\n"; }

std::string reason_of(const LearnedPath& path) {
  const std::string whole = path.paths > 1 ? fmt::format("{} of its files, ", path.paths) : "";
  const std::string said = fmt::format("{}missed {}", whole, times(path.count));
  return path.warning.empty() ? said : fmt::format("NOT ADVISED: {}; {}", path.warning, said);
}

std::string reason_of(const RefusedOperation& operation) {
  return fmt::format("{} was refused {}", operation.what, times(operation.count));
}

std::string entry(std::string_view value, const std::string& reason, bool is_advised = true) {
  return fmt::format("  {}{},  {}", is_advised ? "" : "# ", toml_text(value), comment(reason));
}

std::string list(std::string_view key, const std::string& entries) {
  return entries.empty() ? std::string() : fmt::format("{} = [\n{}]\n", key, entries);
}

std::string path_list(const char* key, PathWish wish, const std::vector<LearnedPath>& paths) {
  std::string entries;
  for (const LearnedPath& path : paths) {
    if (path.wish == wish) entries += entry(path.path, reason_of(path), path.warning.empty());
  }
  return list(key, entries);
}

bool is_for_new_profile(const RefusedOperation& operation) {
  return operation.remedy.adds_call && !operation.remedy.base.empty();
}

const RefusedOperation* first_with(const Operations& operations, const auto& holds) {
  const auto found = std::ranges::find_if(operations, holds);
  return found == operations.end() ? nullptr : &*found;
}

std::string profile_of(const std::string& server) { return server + "-learned"; }

// Keys of the server's own table.
std::string setting_lines(const Learned& learned) {
  std::string text;
  const auto& operations = learned.operations;
  if (const auto* one = first_with(operations, [](const auto& o) { return o.remedy.network; })) {
    text += "network = \"egress\"  " + comment(reason_of(*one));
  } else if (learned.network == "none" && !learned.loopback_ports.empty()) {
    text += "network = \"egress\"  " + comment("for the host's loopback");
  }
  if (const auto* one = first_with(operations, [](const auto& o) { return o.remedy.write_exec; })) {
    text += "write_exec = \"allowed\"  " + comment(reason_of(*one) + "; a weakening");
  }
  if (const auto* one = first_with(operations, is_for_new_profile)) {
    text += fmt::format("profile = {}  {}", toml_text(profile_of(learned.server)),
                        comment(reason_of(*one) + "; see below"));
  }
  return text;
}

// Which port a name was asked for is not known yet.
std::string reason_of_target(const RefusedOperation& operation) {
  const bool is_guess = operation.what.starts_with("resolve ");
  return reason_of(operation) + (is_guess ? "; the port is a guess" : "");
}

// Without a network nobody could ask for a name, and a list of none is refused: this one never
// exists (RFC 2606).
std::string first_target(const Operations& operations) {
  const bool opens =
      first_with(operations, [](const auto& o) { return o.remedy.network; }) != nullptr;
  if (!opens) return {};
  return entry("names.invalid:443", "reaches nothing; the next run tells the names");
}

std::string loopback_rule(const MissedPort& missed) {
  return fmt::format("127.0.0.1/32:{}", missed.port);
}

// With "loopback" the cell's own processes may be meant, with "host" nothing is in the way.
bool advises_loopback(const Learned& learned) {
  return !learned.loopback_ports.empty() &&
         (learned.network == "none" || learned.network == "egress");
}

bool is_target(const Operations& operations, const std::string& rule) {
  return first_with(operations, [&](const auto& o) { return o.remedy.target == rule; }) != nullptr;
}

std::string loopback_entries(const Learned& learned) {
  std::string entries;
  if (!advises_loopback(learned)) return entries;
  for (const MissedPort& missed : learned.loopback_ports) {
    const std::string rule = loopback_rule(missed);
    if (is_target(learned.operations, rule)) continue;
    entries += entry(rule, fmt::format("said to be missed {}; this is the host's loopback, a cell "
                                       "has one of its own",
                                       times(missed.count)));
  }
  return entries;
}

std::string egress_table(const Learned& learned) {
  std::string entries = loopback_entries(learned);
  for (const auto& operation : learned.operations) {
    if (operation.remedy.kind != Kind::egress) continue;
    entries += entry(operation.remedy.target, reason_of_target(operation));
  }
  if (entries.empty()) entries = first_target(learned.operations);
  if (entries.empty()) return {};
  return fmt::format("\n[server.{}.egress]\n", learned.server) + list("allow", entries);
}

std::string call_entries(const Operations& operations, const auto& holds) {
  std::string entries;
  std::set<std::string> known;
  for (const auto& operation : operations) {
    if (!holds(operation) || !known.insert(operation.remedy.call).second) continue;
    entries += entry(operation.remedy.call, reason_of(operation));
  }
  return entries;
}

std::string new_profile(const Learned& learned) {
  const auto* first = first_with(learned.operations, is_for_new_profile);
  if (first == nullptr) return {};
  return fmt::format(
             "\n# In the main file, for profiles are only there. Each call is a weakening.\n"
             "[profile.{}]\nbase = {}\n",
             profile_of(learned.server), toml_text(first->remedy.base)) +
         list("allow", call_entries(learned.operations, is_for_new_profile));
}

// Of a profile that is declared already: several servers may use it.
std::string declared_profiles(const Operations& operations) {
  std::string text;
  for (const auto& operation : operations) {
    const Remedy& remedy = operation.remedy;
    if (remedy.profile.empty()) continue;
    if (remedy.takes_back) {
      text += comment(fmt::format("[profile.{}] refuse: take \"{}\" out; {}", remedy.profile,
                                  remedy.call, reason_of(operation)));
    }
    if (remedy.adds_call) {
      text += comment(fmt::format("[profile.{}] allow: add \"{}\", a weakening; {}", remedy.profile,
                                  remedy.call, reason_of(operation)));
    }
  }
  return text;
}

std::string others(const Operations& operations) {
  std::string text;
  for (const auto& operation : operations) {
    if (operation.remedy.kind == Kind::none) {
      text += comment(reason_of(operation) + "; nothing allows it");
    } else if (operation.remedy.kind == Kind::unadvised) {
      text += comment("NOT ADVISED: " + reason_of(operation) +
                      "; it lets a server read and steer its other processes, and crash reporters "
                      "and debuggers, which ask for it, do without");
    } else if (operation.remedy.kind == Kind::other) {
      text += comment(reason_of(operation) + "; what would allow it: " + operation.allow);
    }
  }
  return text;
}

bool changes_profile(const Operations& operations) {
  return std::ranges::any_of(operations, [](const auto& o) { return !o.remedy.profile.empty(); });
}

std::string head(const Learned& learned) {
  return fmt::format(
      "# Proposed by \"cellblock learn\" from what cells of \"{0}\" were refused and said they "
      "missed.\n# It adds to what [server.{0}] has. Read each line: a server asks for what it "
      "likes.\n",
      learned.server);
}

}  // namespace

bool has_advice(const Learned& learned) {
  return advises_loopback(learned) ||
         std::ranges::any_of(learned.paths, [](const auto& p) { return p.warning.empty(); }) ||
         std::ranges::any_of(learned.operations, [](const auto& o) {
           return o.remedy.kind == Kind::egress || o.remedy.kind == Kind::system_call;
         });
}

std::string learned_toml(const Learned& learned) {
  std::string text = head(learned);
  if (learned.left_out > 0) {
    text += comment(fmt::format("{} more things were too many to be looked at.", learned.left_out));
  }
  if (!has_advice(learned) && !changes_profile(learned.operations)) {
    text += "# Nothing that would be advised was missed.\n";
  }
  const std::string server = path_list("read", PathWish::read, learned.paths) +
                             path_list("write", PathWish::write, learned.paths) +
                             setting_lines(learned);
  if (!server.empty()) text += fmt::format("\n[server.{}]\n{}", learned.server, server);
  text += egress_table(learned);
  text += new_profile(learned);
  const std::string rest = declared_profiles(learned.operations) + others(learned.operations);
  return rest.empty() ? text : text + "\n" + rest;
}

}  // namespace cellblock::cli
