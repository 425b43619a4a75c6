#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/config/access_rule.h"

/// Who asks.
namespace cellblock {

/// As the kernel says.
struct Identified {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::span<const std::uint32_t> groups;  ///< supplementary
};

/// A person, and the role that the session has taken. Borrows the groups.
struct Subject {
  Identified who;
  RoleSet held = 0;      ///< all that the person may take
  RoleSet narrowed = 0;  ///< to the one that was taken; 0: none was
};

/// Of no more than max_roles, which a checked configuration has.
Subject subject_of(std::span<const Role> roles, const Identified& who);

/// The same person, with nothing but that role; nullopt: there is none of that name, or it is not
/// this person's to take.
std::optional<Subject> as_role(std::span<const Role> roles, Subject subject, std::string_view role);

bool is_one_of(const Identified& who, std::span<const std::uint32_t> uids,
               std::span<const std::uint32_t> gids);

}  // namespace cellblock
