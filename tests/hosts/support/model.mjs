// A stand-in for a model, on loopback. It plays a list of steps, `{ tool, args, before }`: when a host's request has the answers
// of the steps so far and offers the next step's tool, it awaits `before`, and answers with a call of that tool. Everything else is answered
// with words, such as requests for a title.

import { once } from 'node:events';
import { createServer } from 'node:http';

import { dialectAt } from './dialects.mjs';

export const lastWords = 'The model is done.';

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

export class StandInModel {
  #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => response.writeHead(500).end(`${error.stack}`));
  });
  #steps = [];
  refused = new Set(); // places that hosts asked this server, as their proxy, to connect to

  async start() {
    this.#server.on('connect', ({ url }, socket) => {
      this.refused.add(url);
      socket.on('error', () => {}).end('HTTP/1.1 403 No network in this test\r\n\r\n');
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  play(steps) {
    this.#steps = steps;
    this.offered = []; // names of tools, all that any request offered
    this.results = []; // what tools answered, in order
  }

  async #turn(offered) {
    const step = this.#steps[this.results.length];
    if (step === undefined || !offered.includes(step.tool)) return { text: lastWords };
    await step.before?.();
    return { call: { name: step.tool, args: step.args } };
  }

  async #answer(request, response) {
    const dialect = dialectAt(request.url);
    if (request.url.includes('count_tokens')) return this.#send(response, { type: 'application/json', body: '{"input_tokens": 1}' });
    if (request.method !== 'POST' || !dialect) return this.#send(response, { type: 'application/json', body: '{"data": [], "models": []}' });
    const body = await bodyOf(request);
    const offered = dialect.offered(body);
    this.offered = [...new Set([...this.offered, ...offered])];
    const results = dialect.results(body);
    if (results.length > this.results.length) this.results = results;
    return this.#send(response, dialect.answer(body, await this.#turn(offered), request.url));
  }

  #send(response, { type, body }) {
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}
