// The declarations of examples/servers.d, for places of a test's own.

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../examples/servers.d');
const reader = `import json, pathlib, sys, tomllib
print(json.dumps({path.stem: tomllib.loads(path.read_text())["server"][path.stem] for path in pathlib.Path(sys.argv[1]).glob("*.toml")}))`;

// { name, text, declared, packaged }: the file, what it says, and the package at its version that it is for.
export function examples() {
  const declared = JSON.parse(execFileSync('python3', ['-c', reader, folder], { encoding: 'utf8' }));
  return Object.keys(declared).sort().map((name) => {
    const text = fs.readFileSync(path.join(folder, `${name}.toml`), 'utf8');
    const [, packaged] = /^#   npm install --ignore-scripts --prefix \/opt\/mcp\/\S+ (\S+)$/m.exec(text);
    return { name, text, declared: declared[name], packaged };
  });
}

// Where a test has what the examples take for granted. `program`: for /opt/mcp/NAME.
export class Places {
  constructor(directory, user, program = (name) => path.join(directory, 'examples', name)) {
    this.home = path.join(directory, 'alice');
    this.secrets = path.join(directory, 'secrets');
    this.user = user;
    this.program = program;
  }

  // In a text of the example of that name.
  placed(name, text) {
    return text.replaceAll(`/opt/mcp/${name}`, this.program(name)).replaceAll('/etc/cellblock/secrets', this.secrets)
      .replaceAll('/home/alice', this.home).replaceAll('"alice"', `${this.user}`)
      .replaceAll('"/usr/bin/node"', JSON.stringify(fs.realpathSync(process.execPath)));
  }

  // Secrets, files and directories that the example names; not its program.
  make({ name, declared }) {
    const write = (file, text, mode) => {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text, { mode });
    };
    for (const file of Object.values(declared.env_from_file ?? {})) {
      write(this.placed(name, file), 'made_up_0123456789abcdef', 0o600);
    }
    for (const file of Object.values(declared.home_files ?? {})) {
      write(this.placed(name, file), JSON.stringify({ installed: { client_id: 'x', client_secret: 'y', redirect_uris: ['http://localhost:3000/oauth2callback'] } }), 0o644);
    }
    for (const directory of [...(declared.read ?? []), ...(declared.write ?? [])].map((one) => this.placed(name, one))) {
      fs.mkdirSync(directory, { recursive: true });
      fs.chmodSync(directory, 0o777);
      const configured = Object.values(declared.env ?? {}).find((value) => value.endsWith('cclsp.json'));
      if (configured) write(this.placed(name, configured), '{"servers":[{"extensions":["ts"],"command":["/usr/bin/true"]}]}', 0o644);
    }
  }

  command({ name, declared }) {
    return declared.command.map((word) => (word === '/usr/bin/node' ? fs.realpathSync(process.execPath) : this.placed(name, word)));
  }

  // As a server has them that is started without a cell, with the home there.
  variables({ name, declared }, home) {
    const secrets = Object.keys(declared.env_from_file ?? {}).map((variable) => [variable, 'made_up_0123456789abcdef']);
    const plain = Object.entries(declared.env ?? {}).map(([variable, value]) => [variable, this.placed(name, value).replaceAll('/home/mcp', home)]);
    return Object.fromEntries([...plain, ...secrets]);
  }
}
