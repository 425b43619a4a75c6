#include "supervisor/ipc/sealed_config.h"

#include "policy/config/config_bytes.h"
#include "supervisor/os/sys.h"

namespace cellblock {

Result<Config> read_sealed_config(int sealed) {
  const auto bytes = CELLBLOCK_TRY(read_all(sealed, max_config_bytes, Sealing::must_be_sealed));
  return decode_config(bytes);
}

Result<std::string> read_declared_parts(int sealed) {
  const auto bytes = CELLBLOCK_TRY(read_all(sealed, max_declared_bytes, Sealing::must_be_sealed));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace cellblock
