#include "client/cli/add/image_proposal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "client/cli/common/secret_paths.h"
#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"
#include "policy/config_check/command_check.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char* usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// ---- what it runs ----

Words words_of(const ContainerRun& run, const ImageConfig& config) {
  Words words = run.entrypoint ? Words{*run.entrypoint} : config.entrypoint;
  const bool is_default = run.arguments.empty() && !run.entrypoint;
  const auto& rest = is_default ? config.command : run.arguments;
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

std::string path_variable(const Proposal& proposal) {
  const auto found =
      std::ranges::find(proposal.variables, "PATH", &std::pair<std::string, std::string>::first);
  return found == proposal.variables.end() ? usual_path : found->second;
}

// As execvp finds it, in the image.
std::string found_program(const std::string& name, const Proposal& proposal,
                          const ImageView& view) {
  if (name.starts_with('/')) return view.program_at(name).empty() ? "" : name;
  if (name.find('/') != std::string::npos) {
    const std::filesystem::path whole = proposal.working_directory + "/" + name;
    const auto path = whole.lexically_normal().string();
    return view.program_at(path).empty() ? "" : path;
  }
  std::istringstream places(path_variable(proposal));
  for (std::string place; std::getline(places, place, ':');) {
    const auto whole = fmt::format("{}/{}", place, name);
    if (place.starts_with('/') && !view.program_at(whole).empty()) return whole;
  }
  return {};
}

std::string_view file_name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool compiles_itself(std::string_view program) {
  constexpr std::array<std::string_view, 5> names = {"node", "nodejs", "bun", "deno", "java"};
  const auto name = file_name_in(program);
  return std::ranges::any_of(
      names, [name](auto one) { return name == one || name.starts_with(std::string(one) + "-"); });
}

// By the program, by what the script is for, and by what a wrapper is told to run.
std::string profile_of(const Words& command, const ImageView& view) {
  Words programs = {view.program_at(command.front()), view.first_line(command.front())};
  programs.insert(programs.end(), command.begin(), command.end());
  std::string text;
  for (const auto& one : programs) text += one + " ";
  std::istringstream words(text);
  bool is_python = false;
  for (std::string word; words >> word;) {
    if (compiles_itself(word)) return "node";
    is_python = is_python || file_name_in(word).starts_with("python");
  }
  return is_python ? "python" : "native";
}

Result<void> refuse_secrets(const Words& arguments) {
  for (const auto& word : arguments) {
    const auto equals = word.find('=');
    const auto value = equals == std::string::npos ? word : word.substr(equals + 1);
    if (!looks_secret(value) && !is_placeholder(value)) continue;
    return fail(
        "a word behind the image looked like a secret, or was left to be filled in: give it "
        "by --env NAME, if the server takes it there");
  }
  return {};
}

Result<void> propose_program(const ContainerRun& run, const UnpackedImage& image,
                             const ImageView& view, Proposal& proposal) {
  CELLBLOCK_CHECK(refuse_secrets(run.arguments));
  auto words = words_of(run, image.config);
  if (words.empty())
    return fail("the image says nothing that is run: --entrypoint names a program");
  const auto program = found_program(words.front(), proposal, view);
  if (program.empty()) {
    return fail(fmt::format("{} is no program of the image", safe_line(words.front())));
  }
  words.front() = program;
  if (const auto habit = habit_problem(words, CommandPlace::image)) {
    return fail(fmt::format("its command {}", *habit));
  }
  proposal.profile = profile_of(words, view);
  proposal.command = std::move(words);
  return {};
}

// ---- in what it runs ----

void set_variable(const std::string& name, const std::string& value, Proposal& proposal) {
  std::erase_if(proposal.variables, [&](const auto& one) { return one.first == name; });
  proposal.variables.emplace_back(name, value);
}

bool is_usable(const std::string& name, Proposal& proposal) {
  const auto problem = variable_problem(name);
  if (is_variable_name(name) && !problem) return true;
  proposal.remarks.push_back(fmt::format("the variable {}: a cell has its own, or none", name));
  return false;
}

bool is_secret(const DeclaredVariable& variable) {
  return variable.secret || is_placeholder(variable.value) || looks_secret(variable.value) ||
         (sounds_secret(variable.name) && !variable.value.starts_with('/'));
}

void propose_variables(const std::vector<DeclaredVariable>& given, const ImageConfig& config,
                       const std::string& secrets_directory, Proposal& proposal) {
  for (const auto& [name, value] : config.variables) {
    if (is_usable(name, proposal)) set_variable(name, value, proposal);
  }
  for (const auto& variable : given) {
    if (!is_usable(variable.name, proposal)) continue;
    if (!is_secret(variable)) {
      set_variable(variable.name, variable.value, proposal);
      continue;
    }
    std::erase_if(proposal.variables, [&](const auto& one) { return one.first == variable.name; });
    std::erase_if(proposal.secrets, [&](const auto& one) { return one.variable == variable.name; });
    proposal.secrets.push_back(
        {.variable = variable.name,
         .file = fmt::format("{}/{}.{}", secrets_directory, proposal.name, variable.name)});
  }
}

// Engines make a directory that is missing.
void propose_directory(const ContainerRun& run, const ImageConfig& config, const ImageView& view,
                       Proposal& proposal) {
  auto place = run.working_directory.empty() ? config.working_directory : run.working_directory;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  if (place.empty()) place = "/";
  const bool is_mounted = std::ranges::any_of(
      run.mounts, [&](const ContainerMount& mount) { return mount.target == place; });
  if (is_mounted || view.is_directory(place)) {
    proposal.working_directory = place;
    return;
  }
  proposal.remarks.push_back(
      fmt::format("the directory {}, which the image lacks: it starts in its home", place));
}

// As for any path that is asked for, but for the place in which it is seen.
Result<void> propose_mount(const ContainerMount& mount, const MachineView& machine,
                           Proposal& proposal) {
  if (is_secret_path(mount.source)) {
    return fail(
        fmt::format("\"{}\" may hold secrets: mount a directory that holds what the server needs "
                    "and nothing else",
                    mount.source));
  }
  const auto use = mount.is_read_only ? PathUse::read : PathUse::write;
  Proposal judged;
  propose_path(mount.source, use, "mounted by its line", machine, judged);
  if (!judged.todos.empty()) return fail(judged.todos.front());
  auto& entries = mount.is_read_only ? judged.read : judged.write;
  if (entries.empty()) entries.push_back({.path = mount.source, .note = "mounted by its line"});
  if (entries.front().path != mount.target) entries.front().target = mount.target;
  auto& all = mount.is_read_only ? proposal.read : proposal.write;
  all.push_back(std::move(entries.front()));
  return {};
}

// ---- the files of an image ----

/// A path in the image, resolved below its root and nowhere else.
client::OwnedFd open_in(const std::string& root, const std::string& path, int flags) {
  const client::OwnedFd top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return client::OwnedFd(
      static_cast<int>(::syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof how)));
}

mode_t mode_in(const std::string& root, const std::string& path) {
  const auto file = open_in(root, path, O_PATH);
  struct stat status{};
  return ::fstat(file.get(), &status) == 0 ? status.st_mode : 0;
}

std::string program_in(const std::string& root, const std::string& path) {
  const auto file = open_in(root, path, O_PATH);
  struct stat status{};
  constexpr mode_t executable = S_IXUSR | S_IXGRP | S_IXOTH;
  if (::fstat(file.get(), &status) < 0 || !S_ISREG(status.st_mode)) return {};
  if ((status.st_mode & executable) == 0) return {};
  std::array<char, PATH_MAX> where{};
  const auto link = fmt::format("/proc/self/fd/{}", file.get());
  const auto size = ::readlink(link.c_str(), where.data(), where.size());
  return size <= 0 ? path : std::string(where.data(), static_cast<std::size_t>(size));
}

// Of a script the line that says what it is for.
std::string first_line_in(const std::string& root, const std::string& path) {
  const auto file = open_in(root, path, O_RDONLY | O_NONBLOCK);
  std::array<char, 256> text{};
  const auto size = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
  const std::string_view read(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!read.starts_with("#!")) return {};
  return std::string(read.substr(2, read.find('\n') - 2));
}

}  // namespace

Result<UnpackedImage> unpacked_image(const std::string& directory) {
  const auto text = CELLBLOCK_TRY(bounded_file(directory + "/image.json", max_import_bytes));
  return UnpackedImage{directory + "/rootfs", CELLBLOCK_TRY(read_image_config(text))};
}

ImageView view_of_image(const std::string& root) {
  return {.program_at = [root](const std::string& path) { return program_in(root, path); },
          .is_directory = [root](const std::string& path) { return S_ISDIR(mode_in(root, path)); },
          .first_line = [root](const std::string& path) { return first_line_in(root, path); }};
}

Result<Proposal> image_proposal(const AddedServer& added, const ContainerRun& run,
                                const UnpackedImage& image, const ImageSurroundings& around) {
  Proposal proposal{.name = added.declared.name, .declared_as = added.declared.name};
  proposal.image = image.root;
  proposal.remarks = run.remarks;
  propose_variables(added.declared.variables, image.config, around.secrets, proposal);
  propose_directory(run, image.config, around.view, proposal);
  CELLBLOCK_CHECK(propose_program(run, image, around.view, proposal));
  for (const auto& mount : run.mounts) {
    CELLBLOCK_CHECK(propose_mount(mount, around.machine, proposal));
  }
  return proposal;
}

}  // namespace cellblock::cli
