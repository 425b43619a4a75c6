# The MCP server that installers in Python are: `install`, and `check` of those that ask a registry. The text of an installer follows in the same file,
# and ends with serve(). What it answers is untrusted.

import json
import sys

PACKAGE = {"type": "object", "properties": {"package": {"type": "string"}}, "required": ["package"]}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(name, tools, request, method, params):
    if method == "initialize":
        send({"id": request, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                        "serverInfo": {"name": name, "version": "1"}}})
    elif method == "tools/list":
        send({"id": request, "result": {"tools": [{"name": tool, "inputSchema": PACKAGE} for tool in tools]}})
    elif method == "tools/call":
        output, failed = tools[params["name"]](params["arguments"]["package"])
        send({"id": request, "result": {"content": [{"type": "text", "text": output}], "isError": failed}})
    else:
        send({"id": request, "error": {"code": -32601, "message": "Method not found"}})


def serve(name, tools):
    """tools: a name, and a function (package) -> the text of the result, whether it failed."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer(name, tools, message["id"], message["method"], message.get("params", {}))
