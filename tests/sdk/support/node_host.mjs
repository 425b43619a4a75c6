// Runs functions of a test in a host program that has CellblockTransport.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { asHost } from './daemon.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

export class NodeHost {
  #child;
  #waiting = new Map();
  #next = 1;

  // After the daemon's start(), which has copied the SDK.
  constructor(daemon) {
    const place = path.join(daemon.directory, 'node_host');
    if (!fs.existsSync(place)) {
      fs.cpSync(path.resolve(here, '../../../client/node'), path.join(place, 'client'), { recursive: true });
      fs.copyFileSync(path.join(here, 'host_driver.mjs'), path.join(place, 'host_driver.mjs'));
    }
    const [command, ...args] = [...asHost, fs.realpathSync(process.execPath), path.join(place, 'host_driver.mjs'),
                                path.join(place, 'client'), daemon.modules];
    const env = { PATH: '/usr/bin:/bin', HOME: '/', CELLBLOCK_SOCKET: daemon.socket };
    this.#child = spawn(command, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#answered(JSON.parse(line)));
    this.#child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the host ended with ${code}`));
    });
  }

  #answered({ id, value, error }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) reject(Object.assign(new Error(error.message), error));
    else resolve(value);
  }

  // `run(host, ...args)` there: it sees nothing of this program but its arguments, which are JSON, as what it gives is.
  // `host.memory` is kept between them.
  run(run, ...args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, source: run.toString(), args })}\n`);
    });
  }

  async end() {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }
}
