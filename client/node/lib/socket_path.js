// Where the daemon listens, and whether anybody else could have put that socket there.

import * as fs from 'node:fs';
import * as path from 'node:path';

import { CellblockError } from './error.js';

export function defaultSocketPath(env = process.env) {
  if (env.CELLBLOCK_SOCKET) return env.CELLBLOCK_SOCKET;
  const runtime = env.XDG_RUNTIME_DIR;
  const own = runtime?.startsWith('/') ? path.join(runtime, 'cellblock/cellblock.sock') : '';
  return own && fs.existsSync(own) ? own : '/run/cellblock/cellblock.sock';
}

const writableByOthers = 0o022;
const sticky = 0o1000;

// `facts`: { self, socket: uid, directories: [{ path, owner, mode }] } from / down. Empty: trusted.
export function distrust({ self, socket, directories }) {
  const isOurs = (uid) => uid === 0 || uid === self;
  const last = directories.length - 1;
  for (const [index, { path: place, owner, mode }] of directories.entries()) {
    const belongs = isOurs(owner) || (index === last && owner === socket);
    if (!belongs) return `directory ${place} belongs to uid ${owner}`;
    if ((mode & writableByOthers) === 0) continue;
    const next = index === last ? socket : directories[index + 1].owner;
    if ((mode & sticky) === 0 || !isOurs(next)) return `directory ${place} can be written by others`;
  }
  return '';
}

function directoriesTo(file) {
  const found = [];
  for (let place = path.dirname(file); ; place = path.dirname(place)) {
    const { uid, mode } = fs.lstatSync(place);
    found.unshift({ path: place, owner: uid, mode: mode & 0o7777 });
    if (place === '/') return found;
  }
}

function unreached(socket, error) {
  const code = error.code === 'EACCES' || error.code === 'EPERM' ? 'no_access' : 'unreachable';
  return new CellblockError(code, `socket ${socket}: ${error.message}`);
}

// Where to connect: links resolved, so that what was looked at is what is reached. Node does not tell
// who listens behind a socket (SO_PEERCRED), so this asks who could have put it there.
export function trustedSocket(socket) {
  let real;
  let facts;
  try {
    real = fs.realpathSync(socket);
    facts = { self: process.geteuid(), socket: fs.lstatSync(real).uid, directories: directoriesTo(real) };
  } catch (error) {
    throw unreached(socket, error);
  }
  const reason = distrust(facts);
  if (reason) throw new CellblockError('untrusted_listener', `socket ${socket}: ${reason}`);
  return real;
}

export { unreached };
