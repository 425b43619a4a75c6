#pragma once

#include <string_view>

namespace cellblock::harness {

/// A server that runs the Python that each call brings, and says what `said` is afterwards, or the
/// error.
inline constexpr std::string_view python_runner = R"(import errno, json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "runner", "version": "1"}}
    else:
        names = {"os": os, "said": "done"}
        try:
            exec(message["params"]["arguments"]["code"], names)
            said = str(names["said"])
        except OSError as error:
            said = errno.errorcode[error.errno]
        result = {"content": [{"type": "text", "text": said}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)";

}  // namespace cellblock::harness
