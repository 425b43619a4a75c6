#include "supervisor/gateway/catalogue/pin_store.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "policy/pins/pin_file.h"
#include "supervisor/gateway/catalogue/kept_files.h"

namespace cellblock::gateway {
namespace {

std::string file_name(const Server& server) { return server.name + ".pins"; }

}  // namespace

SysResult<PinStore> PinStore::open(const std::string& path) {
  return PinStore(
      CELLBLOCK_TRY(open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
}

void PinStore::load(const Server& server, PinSet& pins) const {
  const auto file = open_kept(directory_.get(), file_name(server));
  if (!file && file.error().number == ENOENT) return;
  const auto bytes =
      file ? read_all(file->get(), max_pin_file, Sealing::any) : std::unexpected(file.error());
  if (!bytes) return pins.is_damaged();
  read_pin_file({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, pins);
}

SysResult<void> PinStore::save(const Server& server, const PinSet& pins) const {
  return replace_kept(directory_.get(), file_name(server), pin_file(pins), Durability::synced);
}

}  // namespace cellblock::gateway
