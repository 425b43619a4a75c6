#include "supervisor/daemon/users/refusal.h"

#include <sys/socket.h>

#include <string>

namespace cellblock::daemon {

std::string_view refusal_sentence(FailureCode code) {
  switch (code) {
    case FailureCode::too_many:
      return "Too many connections; close one and try again.";
    case FailureCode::disabled:
      return "cellblock is switched off by its administrator (enabled = false, or cellblock "
             "disable).";
    case FailureCode::shutting_down:
      return "cellblock is stopping.";
    case FailureCode::not_allowlisted:
      return "This user may use no server of cellblock: no server's allow or rule names him.";
    default:
      return "cellblock could not start the process that serves this user; its log says why.";
  }
}

std::string disabled_sentence(std::string_view reason) {
  std::string sentence = "cellblock is switched off by its administrator (cellblock disable)";
  if (!reason.empty()) sentence += ": " + std::string(reason);
  return sentence;
}

void write_refusal(int socket, FailureCode code, std::string_view sentence) {
  const std::string line = plain_error_reply(code, sentence) + "\n";
  // The result does not matter: the connection is closed next.
  static_cast<void>(::send(socket, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace cellblock::daemon
