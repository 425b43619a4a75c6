#include "client/cli/install/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_reference = 512;
constexpr std::string_view default_registry = "docker.io";

// Where the well-known ones have the content of images; others have it themselves.
struct KnownRegistry {
  std::string_view name;
  std::vector<std::string> egress;
};

const std::vector<KnownRegistry>& known_registries() {
  static const std::vector<KnownRegistry> all = {
      {"docker.io",
       {"registry-1.docker.io:443", "auth.docker.io:443", "production.cloudflare.docker.com:443",
        "*.r2.cloudflarestorage.com:443"}},
      {"ghcr.io", {"pkg-containers.githubusercontent.com:443"}},
      {"quay.io", {"*.quay.io:443"}},
      {"gcr.io", {"storage.googleapis.com:443"}},
      {"mcr.microsoft.com", {"*.data.mcr.microsoft.com:443"}},
      {"public.ecr.aws", {"*.cloudfront.net:443"}}};
  return all;
}

bool is_of_references(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
         std::string_view("._-/:@").find(byte) != std::string_view::npos;
}

std::unexpected<Error> no_reference(const std::string& image, std::string_view why) {
  return fail(fmt::format("\"{}\" {}", cut_to(safe_line(image), 80), why));
}

// A path without ":" in it: skopeo takes what follows for a tag.
Result<ImageSource> local_source(const std::string& image, std::size_t scheme) {
  const auto rest = image.substr(scheme + 1);
  const auto colon = rest.find(':');
  const auto path = rest.substr(0, colon);
  if (!path.starts_with('/')) return no_reference(image, "names no whole path");
  const auto tag = colon == std::string::npos ? std::string() : rest.substr(colon);
  if (!std::ranges::all_of(tag, is_of_references)) return no_reference(image, "has no plain tag");
  return ImageSource{.reference = image.substr(0, scheme) + ":/image" + tag, .path = path};
}

// The first part is a host where it could be nothing else.
bool is_host(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

bool has_tag_or_digest(std::string_view name) {
  return name.substr(name.rfind('/') + 1).find_first_of(":@") != std::string_view::npos;
}

}  // namespace

Result<ImageSource> image_source(const std::string& image) {
  if (image.empty() || image.size() > longest_reference || image.starts_with('-')) {
    return no_reference(image, "is no name of an image");
  }
  for (const std::string_view scheme : {"oci", "oci-archive", "docker-archive"}) {
    if (image.starts_with(std::string(scheme) + ":/")) return local_source(image, scheme.size());
  }
  auto name = image.starts_with("docker://") ? image.substr(9) : image;
  if (name.empty() || !std::ranges::all_of(name, is_of_references) || name.front() == '/') {
    return no_reference(image, "is no name of an image");
  }
  const auto slash = name.find('/');
  const bool names_host = slash != std::string::npos && is_host(name.substr(0, slash));
  if (!names_host) {
    name = fmt::format("{}/{}{}", default_registry, slash == std::string::npos ? "library/" : "",
                       name);
  }
  if (!has_tag_or_digest(name)) name += ":latest";
  ImageSource source{.reference = "docker://" + name, .registry = name.substr(0, name.find('/'))};
  const auto known = std::ranges::find(known_registries(), source.registry, &KnownRegistry::name);
  if (known != known_registries().end()) source.egress = known->egress;
  return source;
}

}  // namespace cellblock::cli
