// Puts a bearer token on requests that have none, for suites that cannot: everything else passes as it is.

import http from 'node:http';
import { once } from 'node:events';

export class TokenRelay {
  #server;

  // Gives the URL of the relay to that port of loopback.
  async start(port, token) {
    this.#server = http.createServer((request, response) => {
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const { method, url: path } = request;
      const onward = http.request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        response.flushHeaders(); // the first event of a stream may be late
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async stop() {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}
