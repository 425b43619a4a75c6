#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cellblock/error.h"
#include "cellblock/export.h"

/// @file
/// What a server asks of this host: sampling, elicitation, roots. Such requests arrive only if the
/// administrator allows them and Options::capabilities declares them. Texts are untrusted.
namespace cellblock::client {

/// A question of a server.
struct ServerRequest {
  std::string method = {};  ///< "elicitation/create"
  std::string params = {};  ///< a JSON object, or empty
};

/// Where the answer goes: the result as JSON text, or the error to answer with (`rpc_code`,
/// `text`). Copies are one: the first answer counts, and the last copy that goes without one has
/// answered with an error. Any thread, at any time, also when the session is over: then nothing
/// happens.
class CELLBLOCK_CLIENT_API RequestAnswer {
 public:
  struct Impl;  ///< the library's own
  /// The library's own: hosts are handed one.
  explicit RequestAnswer(std::shared_ptr<Impl> impl);

  /// Answers.
  void operator()(Result<std::string> answer) const;

  /// Nobody has answered, and the server still waits: it may have taken its question back, or the
  /// connection may have ended.
  bool is_wanted() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Answers at once or later; the connection goes on meanwhile. Runs on the executor.
using ServerRequestHandler =
    std::function<void(const ServerRequest& request, RequestAnswer answer)>;

/// Answers on the spot, by what it returns: the session waits meanwhile.
using RequestHandler =
    std::function<Result<std::string>(std::string_view method, std::string_view params)>;

}  // namespace cellblock::client
