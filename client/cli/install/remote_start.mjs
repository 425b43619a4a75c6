// What runs in the cell of a server that is reached by an address: mcp-remote, in this process, with the authorization that
// `cellblock auth` has obtained. Nobody is sent to a browser from here: a host that starts a server waits for no person.

import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const variable = 'REMOTE_AUTHORIZATION';
const longestWait = 5000;
const directory = process.env.MCP_REMOTE_CONFIG_DIR ?? path.join(os.homedir(), '.mcp-auth');
const marker = path.join(directory, 'obtained');

function markedAs() {
  return fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8') : '';
}

function writeAll(id, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content, { mode: 0o600 });
  }
  fs.writeFileSync(marker, id);
}

// Whether this process is the one to write it; another cell of the same home may be about to.
function isClaimed(id) {
  try {
    fs.closeSync(fs.openSync(`${marker}.${id}`, 'wx'));
    return true;
  } catch {
    return false;
  }
}

async function waitForOther(id) {
  for (const until = Date.now() + longestWait; markedAs() !== id && Date.now() < until;) {
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

// What is kept is newer than what was obtained once: mcp-remote renews it. Without an authorization nothing of one is kept.
async function takeOver(text) {
  const [id, , , files] = text.split('\n');
  if (markedAs() === id) return;
  if (id === '') return fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(directory, { recursive: true });
  if (!isClaimed(id)) await waitForOther(id);
  if (markedAs() === id) return;
  writeAll(id, JSON.parse(files));
}

function server() {
  return path.basename(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..'));
}

// It listens for a browser where the server asks for an authorization, and for nothing else.
function refuseBrowser(words) {
  const has = words.some((word) => /^authorization:/i.test(word));
  const why = has ? 'the server refused the Authorization header that it was sent'
                  : `it needs the authorization of its user: cellblock auth ${server()}`;
  net.Server.prototype.listen = () => {
    console.error(why);
    process.exit(1);
  };
}

await takeOver(process.env[variable] ?? '');
delete process.env[variable];
process.argv.splice(1, 1);
refuseBrowser(process.argv.slice(2));
await import(pathToFileURL(process.argv[1]).href);
