// Packages of PyPI that a test makes, for the registry on loopback.

import { spawnSync } from 'node:child_process';

// A server that says which tools it has, writes a file where it is told, and tells what it sees.
const serverModule = `import json, os, sys

TOOLS = LISTED
FAILS = FAILURE


def call(name, given):
    if name == "write":
        with open(given["path"], "w") as file:
            file.write("written")
        return "done"
    return json.dumps(dict(os.environ)) if name == "environment" else " ".join(sorted(os.listdir(os.path.dirname(__file__))))


def reply(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "wheel", "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in TOOLS]}
    return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments") or {})}]}


def main():
    if FAILS:
        raise SystemExit(FAILS)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": reply(message["method"], message.get("params") or {})}), flush=True)
`;

const zipper = `import json, sys, zipfile
with zipfile.ZipFile(sys.stdout.buffer, "w") as archive:
    for name, text in json.load(sys.stdin).items():
        archive.writestr(name, text)
`;

// The bytes of a wheel whose one program has the package's name.
export function wheel(name, version, { tools = ['write', 'environment', 'files'], fails = '', script = name, files = {} } = {}) {
  const module = name.replaceAll('-', '_');
  const information = `${module}-${version}.dist-info`;
  const all = {
    [`${module}/__init__.py`]: serverModule.replace('LISTED', JSON.stringify(tools)).replace('FAILURE', JSON.stringify(fails)),
    [`${information}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${information}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${information}/entry_points.txt`]: script ? `[console_scripts]\n${script} = ${module}:main\n` : '',
    ...files,
  };
  all[`${information}/RECORD`] = [...Object.keys(all), `${information}/RECORD`].map((file) => `${file},,\n`).join('');
  const { stdout } = spawnSync('/usr/bin/python3', ['-c', zipper], { input: JSON.stringify(all), maxBuffer: 1 << 24 });
  return { file: `${module}-${version}-py3-none-any.whl`, bytes: stdout };
}
