// A host that says and hears lines by hand, through `cellblock connect`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

const prefix = 'io.modelcontextprotocol/';
export const envelope = {
  [`${prefix}protocolVersion`]: '2026-07-28',
  [`${prefix}clientCapabilities`]: { elicitation: { form: {} } },
  [`${prefix}clientInfo`]: { name: 'raw', version: '1' },
};
export const subscriptionKey = `${prefix}subscriptionId`;

export class RawHost {
  #child;
  #lines;
  #next = 1;

  constructor({ command, args, env }) {
    this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdin.on('error', () => {}); // a server that ends is part of the tests
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.stderr = '';
    this.#child.stderr.on('data', (chunk) => { this.stderr += chunk; });
  }

  sendBytes(bytes) {
    this.#child.stdin.write(bytes);
  }

  send(message) {
    this.sendBytes(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  // The next line as it came; undefined at the end.
  async line() {
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  async receive() {
    const line = await this.line();
    return line === undefined ? undefined : JSON.parse(line);
  }

  // Sends a request and returns its answer, which must be what comes next.
  async ask(method, params, id = `own-${this.#next++}`) {
    this.send({ id, method, params });
    const answer = await this.receive();
    assert.equal(answer?.id, id, `an answer to ${method} came, and nothing before: ${JSON.stringify(answer)}`);
    return answer;
  }

  call(name, args = {}, id = undefined) {
    return this.ask('tools/call', { name, arguments: args }, id);
  }

  async open(capabilities = {}) {
    const clientInfo = { name: 'raw', version: '1' };
    const answer = await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    assert.ok(answer.result, JSON.stringify(answer));
    this.send({ method: 'notifications/initialized' });
  }

  // What the mock server was told, message by message.
  async seen() {
    const { result } = await this.call('seen');
    return result.content[0].text.split('\n').map((line) => JSON.parse(line));
  }

  // As the SDKs do it: what is still in flight is not waited for any longer.
  async close() {
    this.#child.stdin.end();
    const patience = setTimeout(() => this.#child.kill(), 2_000);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    clearTimeout(patience);
    return this.#child.exitCode;
  }
}
