// Servers over Streamable HTTP on loopback: server-everything, behind a front that asks for a token, for an
// authorization (OAuth 2.1: code with PKCE, dynamic registration, refresh tokens), or sends elsewhere.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import * as path from 'node:path';

import { fixtures } from './daemon.mjs';
import { freePort } from './port.mjs';

const everything = path.join(fixtures, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

async function listening(answer) {
  const server = http.createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function answerJson(response, status, value, headers = {}) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
}

async function formOf(request) {
  let text = '';
  for await (const bytes of request) text += bytes;
  return request.headers['content-type']?.includes('json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
}

const random = () => randomBytes(24).toString('base64url');

// An authorization server whose user allows everything at once.
export class AuthorizationServer {
  constructor() {
    this.clients = new Map();
    this.codes = new Map(); // code -> { client, challenge, redirect, scope }
    this.access = new Set(); // tokens that are good now
    this.refresh = new Map(); // token -> scope; each is good once
    this.issued = []; // every token there ever was
    this.grants = []; // what was asked for at the token endpoint
    this.lifetime = 3600;
    this.refuses = false;
    this.requests = 0;
  }

  async start() {
    this.server = await listening((request, response) => this.#answer(request, response));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  // Tokens that were given out so far are refused from now on; refresh tokens stay good.
  expire() {
    this.access.clear();
  }

  #metadata() {
    return { issuer: this.url, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token`,
             registration_endpoint: `${this.url}/register`, response_types_supported: ['code'],
             grant_types_supported: ['authorization_code', 'refresh_token'], code_challenge_methods_supported: ['S256'],
             token_endpoint_auth_methods_supported: ['none'], scopes_supported: ['mcp:read'] };
  }

  #register(asked) {
    const client = { ...asked, client_id: random() };
    this.clients.set(client.client_id, client);
    return client;
  }

  // As a browser would be sent, with a person that allows, or not.
  #authorize(query, response) {
    const client = this.clients.get(query.get('client_id'));
    const redirect = query.get('redirect_uri');
    const isSound = client?.redirect_uris.includes(redirect) && query.get('code_challenge_method') === 'S256';
    if (!isSound) return answerJson(response, 400, { error: 'invalid_request' });
    const back = new URL(redirect);
    back.searchParams.set('state', query.get('state'));
    if (this.refuses) {
      back.searchParams.set('error', 'access_denied');
    } else {
      const code = random();
      this.codes.set(code, { client: client.client_id, challenge: query.get('code_challenge'), redirect, scope: query.get('scope') });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { Location: back.href }).end();
  }

  #tokens(scope) {
    const access = random();
    const refresh = random();
    this.access.add(access);
    this.refresh.set(refresh, scope);
    this.issued.push(access, refresh);
    return { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: this.lifetime, scope };
  }

  #token(form) {
    this.grants.push(form.grant_type);
    if (form.grant_type === 'refresh_token') {
      const scope = this.refresh.get(form.refresh_token);
      return this.refresh.delete(form.refresh_token) ? this.#tokens(scope) : null;
    }
    const code = this.codes.get(form.code);
    this.codes.delete(form.code);
    const challenge = createHash('sha256').update(form.code_verifier ?? '').digest('base64url');
    const isSound = code && code.client === form.client_id && code.challenge === challenge && code.redirect === form.redirect_uri;
    return isSound ? this.#tokens(code.scope) : null;
  }

  async #answer(request, response) {
    this.requests += 1;
    const url = new URL(request.url, this.url);
    if (url.pathname === '/.well-known/oauth-authorization-server') return answerJson(response, 200, this.#metadata());
    if (url.pathname === '/authorize') return this.#authorize(url.searchParams, response);
    if (request.method !== 'POST') return response.writeHead(404).end();
    const form = await formOf(request);
    if (url.pathname === '/register') return answerJson(response, 201, this.#register(form));
    const tokens = this.#token(form);
    return tokens ? answerJson(response, 200, tokens) : answerJson(response, 400, { error: 'invalid_grant' });
  }
}

// `token`: what has to come as a bearer; `header`: [name, value] that has to come; `authorization`: whose tokens are good;
// `redirects`: where every call is sent.
export class RemoteServer {
  constructor({ token, header, authorization, redirects } = {}) {
    Object.assign(this, { token, header, authorization, redirects });
    this.asked = []; // [method, path]
  }

  async start() {
    if (!this.redirects) await this.#startEverything();
    this.server = await listening((request, response) => this.#answer(request, response));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}/mcp`;
  }

  async #startEverything() {
    this.behind = await freePort();
    this.process = spawn(process.execPath, [everything, 'streamableHttp'],
                         { env: { PATH: process.env.PATH, PORT: `${this.behind}` }, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    await new Promise((resolve, reject) => {
      this.process.stderr.on('data', (bytes) => {
        said += bytes;
        if (said.includes('listening on port')) resolve();
      });
      this.process.once('exit', () => reject(new Error(said)));
    });
  }

  stop() {
    this.process?.removeAllListeners('exit');
    this.process?.kill('SIGKILL');
    this.server.closeAllConnections();
    this.server.close();
  }

  #isAllowed({ headers }) {
    const bearer = headers.authorization?.replace(/^Bearer /, '');
    if (this.header) return headers[this.header[0].toLowerCase()] === this.header[1];
    if (this.authorization) return this.authorization.access.has(bearer);
    return !this.token || bearer === this.token;
  }

  #describe(response) {
    return answerJson(response, 200, { resource: this.url, authorization_servers: [this.authorization.url], scopes_supported: ['mcp:read'] });
  }

  #refuse(response) {
    const place = `http://127.0.0.1:${this.port}/.well-known/oauth-protected-resource/mcp`;
    const challenge = this.authorization ? `Bearer resource_metadata="${place}"` : 'Bearer';
    return answerJson(response, 401, { error: 'invalid_token' }, { 'WWW-Authenticate': challenge });
  }

  #answer(request, response) {
    this.asked.push([request.method, request.url]);
    this.onAsked?.();
    if (this.authorization && request.url.startsWith('/.well-known/oauth-protected-resource')) return this.#describe(response);
    if (request.url.startsWith('/.well-known/')) return response.writeHead(404).end();
    if (this.redirects) return response.writeHead(307, { Location: this.redirects }).end();
    if (!this.#isAllowed(request)) return this.#refuse(response);
    const { method, url, headers } = request;
    const forward = http.request({ host: '127.0.0.1', port: this.behind, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forward.on('error', () => response.destroy());
    response.on('close', () => forward.destroy());
    return request.pipe(forward);
  }
}

// A browser: follows where it is sent, from the authorization server back to whoever waits on loopback.
export async function browse(url) {
  const sent = await fetch(url, { redirect: 'manual' });
  const back = new URL(sent.headers.get('location'));
  back.hostname = '127.0.0.1';
  return (await fetch(back)).text();
}
