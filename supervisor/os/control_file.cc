#include "supervisor/os/control_file.h"

#include <fcntl.h>

namespace cellblock {

SysResult<void> write_control_file(int directory, const char* name, std::string_view text) {
  const Fd file = CELLBLOCK_TRY(open_at(directory, name, O_WRONLY));
  return write_all(file.get(), text);
}

SysResult<std::string> read_control_file(int directory, const char* name, std::size_t limit) {
  const Fd file = CELLBLOCK_TRY(open_at(directory, name, O_RDONLY));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), limit, Sealing::any));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace cellblock
