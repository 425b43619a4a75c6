// Lines over the daemon's socket: bounded in both directions. Knows nothing of JSON.

import * as net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { CellblockError } from './error.js';
import { LineSplitter } from './lines.js';
import { trustedSocket, unreached } from './socket_path.js';

const pausesOfAFullBacklog = [5, 10, 20, 40, 80, 160, 320, 640, 800]; // ms

function tried(real) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(real);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

async function reached(path) {
  const real = trustedSocket(path);
  for (let attempt = 0; ; ++attempt) {
    try {
      return await tried(real);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw unreached(path, error);
      if (attempt === pausesOfAFullBacklog.length) {
        throw new CellblockError('too_many', `socket ${path}: the daemon accepts no more connections now`);
      }
      await sleep(pausesOfAFullBacklog[attempt]);
    }
  }
}

export class Connection {
  #socket;
  #limits;
  #handlers;
  #lines;
  #isOver = false;

  // handlers: line(text), longLine({ head, tail }) that says whether it knew whose it was, and ended(error), once and
  // not after close().
  static async open(path, limits, handlers) {
    return new Connection(await reached(path), limits, handlers);
  }

  constructor(socket, limits, handlers) {
    this.#socket = socket;
    this.#limits = limits;
    this.#handlers = handlers;
    const tooLong = () =>
      this.end(new CellblockError('too_large', `the daemon sent a message over ${limits.incomingLine} bytes`));
    this.#lines = new LineSplitter(limits.incomingLine, {
      line: handlers.line,
      longLine: (line) => { if (!handlers.longLine(line)) tooLong(); },
      endless: tooLong,
    });
    socket.on('data', (chunk) => this.#lines.push(chunk));
    socket.on('error', (error) =>
      this.end(new CellblockError('disconnected', `the connection broke: ${error.message}`)));
    socket.on('close', () => this.end(new CellblockError('disconnected', 'the daemon closed the connection')));
  }

  get isOver() {
    return this.#isOver;
  }

  // `line` without its newline.
  send(line) {
    if (this.#isOver) throw new CellblockError('disconnected', 'there is no connection to the daemon');
    if (this.#socket.writableLength + line.length > this.#limits.outgoingQueue) {
      throw new CellblockError('too_many', 'too much is waiting to be sent already');
    }
    this.#socket.write(`${line}\n`);
  }

  close() {
    this.#isOver = true;
    this.#lines.stop();
    this.#socket.destroySoon(); // what was sent last says that calls are cancelled
  }

  end(error) {
    if (this.#isOver) return;
    this.close();
    this.#handlers.ended(error);
  }
}
