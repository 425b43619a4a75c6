#include "supervisor/process/wipe.h"

#include <algorithm>
#include <cstring>

namespace cellblock {
namespace {

// More than the inline buffer of any std::string.
constexpr std::size_t always_allocated = 64;

}  // namespace

std::string secret_text(std::string_view text) {
  std::string copy;
  copy.reserve(std::max(text.size(), always_allocated));
  copy.append(text);
  return copy;
}

// Wipes the whole capacity, since removed bytes stay there.
void wipe(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

void wipe(std::vector<std::byte>& bytes) {
  ::explicit_bzero(bytes.data(), bytes.size());
  bytes.clear();
}

void wipe(Secrets& secrets) {
  for (ServerSecrets& server : secrets.servers) {
    for (std::string& value : server.values) wipe(value);
  }
  secrets.servers.clear();
}

}  // namespace cellblock
