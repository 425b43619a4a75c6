// A daemon that follows a script: a Unix socket, and what is said on it by hand.

import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class Peer {
  #socket;
  #lines;

  constructor(socket) {
    this.#socket = socket;
    socket.on('error', () => {}); // a client that ends is part of the tests
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  // The next message; undefined at the end.
  async hear() {
    const { value, done } = await this.#lines.next();
    return done ? undefined : JSON.parse(value);
  }

  say(text) {
    this.#socket.write(typeof text === 'string' ? text : `${JSON.stringify({ jsonrpc: '2.0', ...text })}\n`);
  }

  async answerNext(result = {}) {
    const message = await this.hear();
    this.say({ id: message.id, result });
    return message;
  }

  // As a healthy gateway does; gives what the client said.
  async greet() {
    const attach = await this.answerNext({ server: 'files', session: '1' });
    const initialize = await this.answerNext({ protocolVersion: '2025-11-25', capabilities: { tools: {} },
                                               serverInfo: { name: 'fake', version: '1' } });
    return { attach, initialize, initialized: await this.hear() };
  }

  end() {
    this.#socket.destroy();
  }
}

export class FakeDaemon {
  #scripts = [];
  #running = [];

  // Each connection follows the next script; the last one is followed by all that come later.
  constructor(...scripts) {
    this.directory = fs.mkdtempSync(path.join(fs.realpathSync(os.homedir()), '.cellblock-fake-'));
    this.socket = path.join(this.directory, 'cellblock.sock');
    this.#scripts = scripts;
    this.server = net.createServer((socket) => {
      const script = this.#scripts.length > 1 ? this.#scripts.shift() : this.#scripts[0];
      this.#running.push(script(new Peer(socket)));
    });
  }

  async start() {
    this.server.listen(this.socket);
    await once(this.server, 'listening');
  }

  // When its scripts have ended; with what one of them threw.
  async stop() {
    this.server.close();
    const ends = await Promise.allSettled(this.#running);
    fs.rmSync(this.directory, { recursive: true });
    const failed = ends.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }
}
