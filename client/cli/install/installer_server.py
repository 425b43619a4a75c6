# The MCP server that installers in Python are: one tool, `install`. The text of an installer follows in the same file,
# and ends with serve(). What it answers is untrusted.

import json
import sys

PACKAGE = {"type": "object", "properties": {"package": {"type": "string"}}, "required": ["package"]}
TOOLS = [{"name": "install", "inputSchema": PACKAGE}]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(name, install, request, method, params):
    if method == "initialize":
        send({"id": request, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                        "serverInfo": {"name": name, "version": "1"}}})
    elif method == "tools/list":
        send({"id": request, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        output, failed = install(params["arguments"]["package"])
        send({"id": request, "result": {"content": [{"type": "text", "text": output}], "isError": failed}})
    else:
        send({"id": request, "error": {"code": -32601, "message": "Method not found"}})


def serve(name, install):
    """install(package) -> the text of the result, whether it failed."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer(name, install, message["id"], message["method"], message.get("params", {}))
