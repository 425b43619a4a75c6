// A registry of npm, and an index of PyPI, on loopback, with the packages that a test makes.

import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as os from 'node:os';
import * as path from 'node:path';
import { once } from 'node:events';

import { bundled } from './bundled.mjs';
import { wheel } from './wheels.mjs';

// A server that says which tools it has, writes a file where it is told, and tells what it sees.
export const serverScript = `#!/usr/bin/env node
const fs = require('fs');
const { tools, fails } = require('./package.json').server;
if (fails) throw new Error(fails);
const schema = { type: 'object', properties: { path: { type: 'string' } } };
const run = {
  write: ({ path }) => { fs.writeFileSync(path, 'written'); return 'done'; },
  environment: () => JSON.stringify(process.env),
  files: () => fs.readdirSync(__dirname).sort().join(' '),
};
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'made', version: '1' } }),
  'tools/list': () => ({ tools: tools.map((name) => ({ name, description: name, inputSchema: schema })) }),
  'tools/call': ({ name, arguments: given }) => ({ content: [{ type: 'text', text: run[name](given ?? {}) }] }),
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = answers[method] ? { result: answers[method](params) } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n');
});
`;

function packed(description, files) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cellblock-package.'));
  try {
    fs.mkdirSync(path.join(directory, 'package'));
    for (const [name, text] of Object.entries({ 'package.json': JSON.stringify(description), ...files })) {
      fs.writeFileSync(path.join(directory, 'package', name), text);
    }
    const { stdout } = spawnSync('tar', ['-C', directory, '-cz', 'package'], { maxBuffer: 1 << 24 });
    return stdout;
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

export class Registry {
  constructor() {
    this.packages = new Map(); // name -> version -> { description, bytes }
    this.wheels = new Map(); // name -> file -> bytes
    this.asked = []; // paths
    this.hangs = null; // a path that is answered never
    this.fails = null; // a path that is answered with an error of the server
    this.token = null; // without which nothing is answered
    this.signs = false; // each version, unless it was published with signature: 'wrong' or 'none'
    this.key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    this.expires = null; // the key, when
    this.maintainers = new Map(); // name -> names
    this.yanked = new Map(); // file -> reason
    this.login = null; // "user:password", without which nothing is answered
    this.authorizations = new Set(); // that were sent
    this.server = http.createServer((request, response) => this.#answer(request, response));
  }

  async start() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  // The newest is what was published last. said: { deprecated, publisher, published, signature, attested }, which is not in the archive.
  publish(name, version, { tools = ['write', 'environment', 'files'], fails, files = {}, said = {}, ...more } = {}) {
    const description = { name, version, bin: { [name.split('/').pop()]: 'main.js' }, server: { tools, fails }, ...more };
    if (!this.packages.has(name)) this.packages.set(name, new Map());
    this.packages.get(name).set(version, { description, said, bytes: packed(description, { 'main.js': serverScript, ...files }) });
  }

  // One of tests/fixtures; as another version where one is named.
  publishInstalled(name, version) {
    const { description, bytes } = bundled(name, version);
    if (!this.packages.has(name)) this.packages.set(name, new Map());
    this.packages.get(name).set(description.version, { description, bytes });
  }

  publishWheel(name, version, options) {
    const { file, bytes } = wheel(name, version, options);
    this.publishFile(name, file, bytes);
  }

  publishFile(name, file, bytes) {
    if (!this.wheels.has(name)) this.wheels.set(name, new Map());
    this.wheels.get(name).set(file, bytes);
  }

  // "simple/NAME/" is a list of links, "simple/NAME/FILE" a file.
  #answerPip(asked, response) {
    const [, name, file] = asked.split('/');
    const files = this.wheels.get(name);
    if (!files) return response.writeHead(404).end();
    if (file) return response.end(files.get(file));
    response.setHeader('Content-Type', 'text/html');
    const link = ([one, bytes]) => {
      const reason = this.yanked.has(one) ? ` data-yanked="${this.yanked.get(one)}"` : '';
      return `<a href="${one}#sha256=${createHash('sha256').update(bytes).digest('hex')}"${reason}>${one}</a>\n`;
    };
    return response.end([...files].map(link).join(''));
  }

  get #keys() {
    const key = this.key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    return { keys: [{ keyid: 'SHA256:made', keytype: 'ecdsa-sha2-nistp256', scheme: 'ecdsa-sha2-nistp256', expires: this.expires, key }] };
  }

  #distribution(name, version, integrity, { signature, attested }) {
    const dist = { tarball: `${this.url}${name}/-/${version}.tgz`, integrity };
    if (attested) dist.attestations = { url: `${this.url}-/npm/v1/attestations/${name}@${version}` };
    if (!this.signs || signature === 'none') return dist;
    const message = `${name}@${version}:${signature === 'wrong' ? 'sha512-other' : integrity}`;
    return { ...dist, signatures: [{ keyid: 'SHA256:made', sig: sign('sha256', Buffer.from(message), this.key.privateKey).toString('base64') }] };
  }

  #description(name) {
    const versions = {};
    const time = {};
    let latest;
    for (const [version, { description, bytes, said = {} }] of this.packages.get(name)) {
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const { deprecated, publisher, published } = said;
      if (published) time[version] = published;
      versions[version] = { ...description, deprecated, dist: this.#distribution(name, version, integrity, said) };
      if (publisher) versions[version]._npmUser = { name: publisher };
      latest = version;
    }
    const maintainers = this.maintainers.get(name)?.map((one) => ({ name: one }));
    return { name, 'dist-tags': { latest }, versions, maintainers, time };
  }

  #answer(request, response) {
    const asked = decodeURIComponent(request.url.slice(1));
    this.asked.push(asked);
    const { authorization } = request.headers;
    if (authorization) this.authorizations.add(authorization);
    if (this.token && authorization !== `Bearer ${this.token}`) return response.writeHead(401).end('{}');
    const basic = this.login && `Basic ${Buffer.from(this.login).toString('base64')}`;
    if (basic && authorization !== basic) return response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
    if (this.hangs?.test(asked)) return;
    if (this.fails?.test(asked)) return response.writeHead(500).end('{}');
    if (asked.startsWith('simple/')) return this.#answerPip(asked, response);
    if (asked === '-/npm/v1/keys' && this.signs) return response.end(JSON.stringify(this.#keys));
    const [name, file] = asked.split('/-/');
    if (!this.packages.has(name)) {
      response.writeHead(404).end('{}');
    } else if (file === undefined) {
      response.end(JSON.stringify(this.#description(name)));
    } else {
      response.end(this.packages.get(name).get(file.replace('.tgz', '')).bytes);
    }
  }

  // Until somebody has asked for that.
  async wasAsked(like) {
    while (!this.asked.some((path) => like.test(path))) await once(this.server, 'request');
  }
}
