// What the suites are run against. Each target is started by `start()`, which gives its URL, and
// stopped by `stop()`.

import { spawn } from 'node:child_process';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

import { Daemon, fixtures } from '../sdk/support/daemon.mjs';
import { TokenRelay } from './token_relay.mjs';
import { freePort } from '../sdk/support/port.mjs';

const fixture = path.join(fixtures, 'conformance_server.mjs');
const features = 'client_features = ["roots", "sampling", "elicitation"]';

export function celledFixture(lines = []) {
  const daemon = new Daemon();
  daemon.declareFixture('conformance', 'conformance_server.mjs',
                        { folders: ['conformance'], lines: [features, ...lines] });
  return daemon;
}

// Starts the byte-moving front with that command behind it.
async function startFront({ command, args, env }) {
  const front = spawn(process.execPath, [path.join(fixtures, 'http_front.mjs'), '--', command, ...args],
                      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(createInterface({ input: front.stdout }), 'line');
  return { url, stop: async () => { front.kill('SIGTERM'); await once(front, 'exit'); } };
}

class Bare {
  name = 'the fixture alone';

  async start() {
    this.front = await startFront({ command: process.execPath, args: [fixture], env: {} });
    return this.front.url;
  }

  async stop() {
    await this.front?.stop();
  }
}

class ThroughConnect {
  name = 'through cellblock connect';
  #daemon;

  async start() {
    this.#daemon = celledFixture();
    await this.#daemon.start();
    this.front = await startFront(this.#daemon.throughCell('conformance'));
    return this.front.url;
  }

  async stop() {
    await this.front?.stop();
    await this.#daemon?.stop();
  }
}

class OverHttp {
  name = "through cellblock's HTTP listener";
  #daemon;
  #relay = new TokenRelay();

  async start() {
    this.#daemon = celledFixture(['max_cells_per_user = 256']); // the suites leave their sessions open
    const port = await freePort();
    const token = this.#daemon.listenOnHttp(port);
    await this.#daemon.start();
    return `${await this.#relay.start(port, token)}/mcp/conformance`;
  }

  async stop() {
    await this.#relay.stop();
    await this.#daemon?.stop();
  }
}

export const targets = [new Bare(), new ThroughConnect(), new OverHttp()];
