#include "client/cli/programs/tools_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "client/cli/programs/installation.h"
#include "client/connection/fd.h"
#include "policy/base/build_id.h"
#include "policy/base/result.h"

namespace cellblock::cli {
namespace {

constexpr const char* whole_installation =
    "It carries this command out, and has to be of the same build: install both together.";

Error failed_at(const std::string& path, std::string_view why) {
  return Error{fmt::format("{}: {}\n  {}", path, why, whole_installation)};
}

Result<std::string> build_id_at(const std::string& path) {
  std::array<char, build_id_within> head{};
  const client::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = file.valid() ? ::read(file.get(), head.data(), head.size()) : -1;
  if (size < 0) return std::unexpected(failed_at(path, std::generic_category().message(errno)));
  auto id = build_id_in({head.data(), static_cast<std::size_t>(size)});
  if (!id) return std::unexpected(failed_at(path, "it is no program of cellblock's"));
  return *std::move(id);
}

Result<void> check_same_build(const std::string& tools) {
  const auto own = CELLBLOCK_TRY(build_id_at("/proc/self/exe"));
  const auto id = CELLBLOCK_TRY(build_id_at(tools));
  if (id == own) return {};
  return std::unexpected(
      failed_at(tools, fmt::format("it is of build {}, and this is {}", id, own)));
}

}  // namespace

Exit execute_tools(const Context& context) {
  const auto& tools = own_installation().tools;
  if (const auto same = check_same_build(tools); !same) return cannot(context, same.error().text);
  static_cast<void>(std::fflush(stdout));
  ::execv(tools.c_str(), context.arguments.data());
  return cannot(context, failed_at(tools, std::generic_category().message(errno)).text);
}

}  // namespace cellblock::cli
