#include "policy/config_reader/restart_reader.h"

namespace cellblock {

RestartText read_restart(TableReader reader) {
  RestartText restart;
  restart.when = reader.text("when");
  restart.pause = reader.text("pause");
  restart.max_pause = reader.text("max_pause");
  restart.patience = reader.text("patience");
  restart.failures = reader.integer("failures");
  restart.window = reader.text("window");
  restart.rest = reader.text("rest");
  restart.trials = reader.integer("trials");
  return restart;
}

}  // namespace cellblock
