#include "policy/config_check/profile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/names.h"
#include "policy/config_check/value_check.h"
#include "policy/syscalls/equivalent_syscalls.h"
#include "policy/syscalls/syscall_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t most_profiles = 64;
constexpr std::size_t most_profile_calls = 512;

Profiles shipped_profiles() {
  Profiles profiles;
  for (const auto base : {SyscallProfile::native, SyscallProfile::node, SyscallProfile::python,
                          SyscallProfile::browser}) {
    const std::string name(word_of(base));
    profiles[name] = {.base = base, .name = name, .write_exec = default_write_exec(base)};
  }
  return profiles;
}

using Objection = std::string_view (*)(std::string_view call);

void check_call(const Scope& scope, std::string_view key, const TextAt& call, Objection objection) {
  if (!is_known_call(call.value)) {
    scope.error(call.at, key,
                fmt::format("\"{}\" is no system call that is known here; allowed: names as in "
                            "syscalls(2)",
                            call.value));
  } else if (const auto why = objection(call.value); !why.empty()) {
    scope.error(call.at, key,
                fmt::format("\"{}\" cannot stand here: {}; allowed: other calls", call.value, why));
  }
}

std::vector<std::string> check_calls(const Scope& scope, std::string_view key,
                                     const TextList& texts, Objection objection) {
  std::vector<std::string> calls;
  if (texts.size() > most_profile_calls) {
    scope.error(
        texts.front().at, key,
        fmt::format("has {} entries; allowed: at most {}", texts.size(), most_profile_calls));
    return calls;
  }
  for (const TextAt& text : texts) {
    check_call(scope, key, text, objection);
    if (std::ranges::find(calls, text.value) == calls.end()) calls.push_back(text.value);
  }
  return calls;
}

void refuse_both(const Scope& scope, const ProfileText& text, const SyscallRules& rules) {
  for (const TextAt& call : text.refuse) {
    if (std::ranges::find(rules.allow, call.value) == rules.allow.end()) continue;
    scope.error(
        call.at, "refuse",
        fmt::format("\"{}\" stands under allow as well; allowed: one of the two", call.value));
  }
}

void warn_of_siblings(const Scope& scope, const ProfileText& text, const SyscallRules& rules) {
  for (const OpenFamily& family : open_families(rules)) {
    scope.warning(
        text.refuse.front().at, "refuse",
        fmt::format("names {}, but {} can do the same and stays allowed; better: the whole "
                    "family, or none of it",
                    fmt::join(family.refused, ", "), fmt::join(family.left, ", ")));
  }
}

SyscallRules check_profile(const Scope& scope, const ProfileText& text) {
  SyscallRules rules;
  rules.name = text.name.value;
  if (!text.base && !scope.mentioned("base")) {
    scope.error(text.name.at, "base",
                "is missing; allowed: \"native\", \"node\", \"python\" or \"browser\", whose calls "
                "it begins with");
  }
  check_choice(scope, "base", text.base, rules.base);
  rules.write_exec = default_write_exec(rules.base);
  check_choice(scope, "write_exec", text.write_exec, rules.write_exec);
  rules.allow = check_calls(scope, "allow", text.allow, never_allowed_because);
  rules.refuse = check_calls(scope, "refuse", text.refuse, never_refused_because);
  refuse_both(scope, text, rules);
  warn_of_siblings(scope, text, rules);
  return rules;
}

void add_profile(const Scope& scope, const ProfileText& text, Profiles& profiles) {
  const std::string& name = text.name.value;
  SyscallRules rules = check_profile(scope.below(name), text);
  if (!is_short_name(name)) {
    scope.error(text.name.at, name, "is no profile's name; allowed: [a-z][a-z0-9-]{0,62}");
  } else if (!profiles.try_emplace(name, std::move(rules)).second) {
    scope.error(text.name.at, name,
                "is a profile that cellblock has; allowed: another name, with this one as its "
                "base");
  }
}

std::string words_of(const Profiles& profiles) {
  std::string words;
  for (const auto& [name, rules] : profiles) words += fmt::format(", \"{}\"", name);
  return words.substr(2);
}

}  // namespace

Profiles check_profiles(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "profile."};
  Profiles profiles = shipped_profiles();
  if (main.profiles.size() > most_profiles) {
    complaints.error(main.file, main.profiles.back().name.at, "profile",
                     fmt::format("has too many entries; allowed: at most {}", most_profiles));
    return profiles;
  }
  for (const ProfileText& text : main.profiles) add_profile(scope, text, profiles);
  return profiles;
}

SyscallRules check_syscalls(const Scope& scope, const ServerText& text, NetworkMode network,
                            const Profiles& profiles) {
  const std::string name = text.profile ? text.profile->value : "native";
  const auto found = profiles.find(name);
  if (found == profiles.end()) {
    scope.error(text.profile->at, "profile",
                fmt::format("\"{}\" is not known; allowed: {}, or one of [profile.NAME] in the "
                            "main file",
                            name, words_of(profiles)));
    return profiles.find("native")->second;
  }
  SyscallRules rules = found->second;
  check_choice(scope, "write_exec", text.write_exec, rules.write_exec);
  if (rules.base == SyscallProfile::browser && network == NetworkMode::host) {
    scope.error(
        text.profile->at, "profile",
        fmt::format("\"{}\" has Unix sockets, and on the host's network those without a path "
                    "lead to other programs (D-Bus, X11); allowed: network = \"none\", "
                    "\"loopback\" or \"egress\"",
                    name));
  }
  // What is wrong with the profile itself was said where it stands.
  if (scope.complaints.has_errors()) return rules;
  if (const auto table = syscall_table(rules, network); !table) {
    scope.error(
        text.profile ? text.profile->at : text.name.at, "profile",
        fmt::format("{}; allowed: another profile, or another write_exec", table.error().text));
  }
  return rules;
}

}  // namespace cellblock
