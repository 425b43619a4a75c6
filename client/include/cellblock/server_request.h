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

/// Takes the answer to a server's request: the result as JSON text, or an error (`rpc_code`,
/// `text`). Copies share one answer: the first one counts, and the last copy that is destroyed
/// without one answers with an error. From any thread, at any time. After the end of the session it
/// has no effect.
class CELLBLOCK_CLIENT_API RequestAnswer {
 public:
  struct Impl;  ///< the library's own
  /// The library's own: hosts are handed one.
  explicit RequestAnswer(std::shared_ptr<Impl> impl);

  /// Answers.
  void operator()(Result<std::string> answer) const;

  /// The request is not answered yet and the server still waits. False also after the server has
  /// withdrawn it, or the connection has ended.
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
