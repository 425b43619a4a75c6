#include "client/cli/common/secret_paths.h"

#include <algorithm>
#include <array>

namespace cellblock::cli {
namespace {

// The last component, or the beginning of it, of what holds somebody's keys.
constexpr std::array<std::string_view, 21> secret_names{".ssh",
                                                        ".gnupg",
                                                        ".aws",
                                                        ".azure",
                                                        ".kube",
                                                        ".docker",
                                                        ".netrc",
                                                        ".npmrc",
                                                        ".pypirc",
                                                        ".env",
                                                        ".git-credentials",
                                                        ".pgpass",
                                                        ".password-store",
                                                        ".mozilla",
                                                        "id_rsa",
                                                        "id_ed25519",
                                                        "id_ecdsa",
                                                        "shadow",
                                                        "gshadow",
                                                        "credentials",
                                                        "secrets"};

bool is_secret_name(std::string_view name) {
  return std::ranges::find(secret_names, name) != secret_names.end() || name.ends_with(".pem") ||
         name.ends_with(".key") || name.starts_with(".env.");
}

}  // namespace

bool is_secret_path(std::string_view path) {
  while (!path.empty()) {
    const auto end = std::min(path.find('/', 1), path.size());
    if (is_secret_name(path.substr(1, end - 1))) return true;
    path.remove_prefix(end);
  }
  return false;
}

}  // namespace cellblock::cli
