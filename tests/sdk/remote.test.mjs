// `cellblock add NAME -- https://host/mcp`: a server that is reached by an address is mcp-remote in a cell that reaches that address
// alone. Its token is in a file, and in no command line, log or record.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { inBothModes, textOf, user } from './support/place.mjs';
import { AuthorizationServer, RemoteServer, browse } from './support/remote.mjs';

const token = 'hush-4f9c1c5be0f74d1c-hush';

const echoed = async (place, server) => textOf(await place.call(server, 'echo', { message: 'over there' }));

function commandLines() {
  const lines = [];
  for (const name of fs.readdirSync('/proc').filter((one) => /^[0-9]+$/.test(one))) {
    try {
      lines.push(fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch { /* it has ended */ }
  }
  return lines;
}

// Files of the place with that text, but for where secrets and what servers keep belong.
function filesWith(place, text) {
  const found = execFileSync('sh', ['-c', 'grep -rlF -e "$1" "$2" || true', 'sh', text, place.directory], { encoding: 'utf8' });
  return found.split('\n').filter((file) => file !== '' && !/\/(secrets|homes?)\//.test(file));
}

async function saidIn(place, server) {
  const words = place.isSystem ? ['logs', server] : ['--user', 'logs', server];
  const { out, err } = await place.run(['cellblock', ...words], { asUser: true });
  return out + err;
}

inBothModes((registry) => registry.publishInstalled('mcp-remote'), ({ registry, place }) => {
  const servers = [];
  const started = async (options) => {
    const server = new RemoteServer(options);
    servers.push(server);
    await server.start();
    return server;
  };
  const declared = (name) => fs.readFileSync(place.declaration(name), 'utf8');
  let open;
  let closed;

  before(async () => {
    open = await started({});
    closed = await started({ token });
  });
  after(() => servers.forEach((server) => server.stop()));

  test('One address makes a server that reaches this address alone', async () => {
    const added = await place.add('open', [open.url]);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /\d+ tools: .*echo/);
    assert.match(declared('open'), new RegExp(`allow = \\["127\\.0\\.0\\.1/32:${open.port}"\\]`));
    if (!place.isSystem) await place.start();
    assert.match(await echoed(place, 'open'), /over there/);
  });

  test('It is in the list, and behind `cellblock run --`', async () => {
    assert.match((await place.cellblock('servers')).out, /^open +mcp-remote \d/m);
    assert.match(textOf(await place.callThrough(['run', '--', open.url], 'echo', { message: 'again' })), /again/);
  });

  test('A token is a secret in a file, and stands nowhere else while it is used', async () => {
    const line = [closed.url, '--header', 'Authorization: Bearer ${REMOTE_TOKEN}'];
    const added = await place.run(['cellblock', 'add', 'closed', '--yes', ...place.allowed, '--', ...line],
                                  { env: { REMOTE_TOKEN: token } });
    assert.equal(added.code, 0, added.err);
    const file = path.join(place.configuration, 'secrets/closed.REMOTE_TOKEN');
    assert.equal(fs.readFileSync(file, 'utf8'), token);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    let seen = [];
    closed.onAsked = () => { seen = seen.concat(commandLines()); };
    assert.match(await echoed(place, 'closed'), /over there/);
    closed.onAsked = undefined;
    assert.ok(seen.some((words) => words.includes('mcp-remote') && words.includes(closed.url)));
    assert.deepEqual(seen.filter((words) => words.includes(token)), []);
    assert.deepEqual(filesWith(place, token), []);
    assert.ok(!(added.out + added.err + await saidIn(place, 'closed')).includes(token));
  });

  test('A header that was typed with its value is a secret as well', async () => {
    const server = await started({ header: ['X-Api-Key', token] });
    const added = await place.add('typed', [server.url, '--header', `X-Api-Key: ${token}`]);
    assert.equal(added.code, 0, added.err);
    assert.match(await echoed(place, 'typed'), /over there/);
    assert.deepEqual(filesWith(place, token), []);
    assert.equal((await place.cellblock('remove', '--yes', 'typed')).code, 0);
  });

  const refused = {
    'Another token': [() => [closed.url, '--header', 'Authorization: Bearer other'], /refused the Authorization header/],
    'A token in the address': [() => [`${closed.url}?token=${token}`], /looks like a secret/],
    'An address without encryption': [() => ['http://mcp.example.org/mcp'], /not encrypted/],
    'The address of cloud metadata': [() => ['http://169.254.169.254/mcp'], /link-local|metadata/],
    'An option that leads elsewhere': [() => [open.url, '--enable-proxy'], /--enable-proxy/],
  };
  for (const [what, [line, why]] of Object.entries(refused)) {
    test(`${what} is refused, and leaves nothing`, async () => {
      const added = await place.add('refused', line());
      assert.notEqual(added.code, 0);
      assert.match(added.err, why);
      assert.ok(!added.err.includes(token));
      assert.ok(!place.isDeclared('refused'));
      assert.deepEqual(place.remains('open', 'closed'), []);
    });
  }

  test('A server that sends to loopback, or to cloud metadata, gets its cell nowhere', async () => {
    const victim = await started({});
    for (const place_ of [victim.url, `http://localhost:${victim.port}/mcp`, 'http://169.254.169.254/latest/meta-data/']) {
      const sending = await started({ redirects: place_ });
      const added = await place.add('sent', [sending.url]);
      assert.notEqual(added.code, 0);
      assert.ok(sending.asked.length > 0);
      assert.ok(!place.isDeclared('sent'));
    }
    assert.deepEqual(victim.asked, []);
  });

  test('An address of a file is reached where it is named, and its token where that is', async () => {
    const file = path.join(place.home, 'remote.json');
    const headers = { Authorization: 'Bearer ${REMOTE_TOKEN}' };
    fs.writeFileSync(file, JSON.stringify({ mcpServers: { 'From File': { type: 'http', url: closed.url, headers } } }));
    const words = ['cellblock', 'import', file, '--install', '--yes', ...place.allowed];
    const env = { REMOTE_TOKEN: token };
    const range = `127.0.0.1/32:${closed.port}`;
    assert.match((await place.run([...words, '--env', 'REMOTE_TOKEN'], { env })).err, new RegExp(`loopback: --egress ${range}`));
    assert.match((await place.run([...words, '--egress', range], { env })).err, /REMOTE_TOKEN has no value/);
    const added = await place.run([...words, '--egress', range, '--env', 'REMOTE_TOKEN'], { env });
    assert.match(added.err, /1 of 1 servers added/);
    assert.match(await echoed(place, 'from-file'), /over there/);
    assert.equal((await place.cellblock('remove', '--yes', 'from-file')).code, 0);
  });

  const hosts = {
    'host.json': () => JSON.stringify({ mcpServers: { far: { type: 'http', url: open.url, headers: {}, timeout: 5 } } }, null, 2),
    'host.toml': () => `[mcp_servers.far]\nurl = "${open.url}"\nhttp_headers = {}\nstartup_timeout_sec = 5\n`,
  };
  for (const [name, text] of Object.entries(hosts)) {
    test(`An entry of ${name} with that address becomes \`cellblock connect\`, and comes back`, async () => {
      const file = path.join(place.home, name);
      const words = ['cellblock', 'import', file, '--into-host', '--yes'];
      const run = async (...more) => {
        const done = await place.run([...words, ...more], { asUser: true });
        assert.equal(done.code, 0, done.err);
        return fs.readFileSync(file, 'utf8');
      };
      fs.writeFileSync(file, text());
      fs.chownSync(file, user, user);
      const changed = await run();
      assert.match(changed, /"connect",\s*"open"/);
      assert.doesNotMatch(changed, /http/);
      assert.match(changed, /timeout/);
      assert.equal(await run('--undo'), text());
    });
  }

  // Until it has said where a person has to go; `go` is that person.
  const authorizing = async (words, go) => {
    const child = place.spawn(words);
    const told = { out: '', err: '' };
    let gone;
    child.stdout.on('data', (bytes) => { told.out += bytes; });
    child.stderr.on('data', (bytes) => {
      told.err += bytes;
      const page = /^(http\S+\/authorize\?\S+)$/m.exec(told.err);
      if (page && told.err.includes('waiting for the browser')) gone ??= go(page[1]);
    });
    const code = await new Promise((resolve) => { child.on('close', resolve); });
    return { code, page: await gone, ...told };
  };

  test('An authorization is obtained in a browser, renewed in the cell, shown, and forgotten', async () => {
    const authorization = new AuthorizationServer();
    await authorization.start();
    servers.push(authorization);
    const server = await started({ authorization });
    const more = ['--egress', `127.0.0.1/32:${authorization.port}`];
    const line = ['cellblock', 'add', 'asking', '--yes', ...place.allowed, ...more, '--', server.url];
    const added = await authorizing(line, browse);
    assert.equal(added.code, 0, added.err);
    assert.match(added.page, /close this window/);
    assert.match(added.err, /\d+ tools: .*echo/);
    assert.match(await echoed(place, 'asking'), /over there/);

    assert.match((await place.cellblock('auth', 'asking')).out, /authorized \d{4}-.* scopes: mcp:read; .* renewed in its cell/);
    authorization.expire();
    assert.match(await echoed(place, 'asking'), /over there/);
    assert.deepEqual(authorization.grants.filter((grant) => grant === 'refresh_token').length, 1);
    const { client, call } = await place.openThrough(['connect', 'asking']);
    assert.match(textOf(await call('echo', { message: 'before' })), /before/);
    authorization.expire();
    assert.match(textOf(await call('echo', { message: 'in mid session' })), /in mid session/);
    await client.close();

    for (const secret of authorization.issued) {
      assert.deepEqual(filesWith(place, secret), []);
      assert.ok(!(added.out + added.err + await saidIn(place, 'asking')).includes(secret));
    }
    assert.deepEqual(commandLines().filter((words) => authorization.issued.some((secret) => words.includes(secret))), []);

    const forgotten = await place.cellblock('auth', '--forget', 'asking');
    assert.equal(forgotten.code, 0, forgotten.err);
    await assert.rejects(echoed(place, 'asking'), /cellblock auth asking/);
    assert.ok(!fs.existsSync(path.join(place.configuration, 'secrets/asking.REMOTE_AUTHORIZATION')));

    authorization.refuses = true;
    const denied = await authorizing(['cellblock', 'auth', 'asking'], browse);
    assert.equal(denied.code, 1);
    assert.match(denied.err, /access_denied/);
    authorization.refuses = false;
    const again = await authorizing(['cellblock', 'auth', 'asking'], browse);
    assert.equal(again.code, 0, again.err);
    assert.match(await echoed(place, 'asking'), /over there/);

    const main = path.join(place.configuration, 'cellblock.toml');
    const sound = fs.readFileSync(main, 'utf8');
    fs.writeFileSync(main, `${sound}\n[nothing]\n`);
    const unheard = await authorizing(['cellblock', 'auth', '--again', 'asking'], browse);
    fs.writeFileSync(main, sound);
    assert.match(unheard.err, /the files are changed, but the daemon could not reload/);
    assert.equal(unheard.code, 1);
  });

  test('An update uses up no token of the authorization, which goes on with the new version', async () => {
    const [authorization] = servers.filter((one) => one instanceof AuthorizationServer);
    const before = authorization.grants.length;
    registry.publishInstalled('mcp-remote', '99.0.0');
    const updated = await place.cellblock('update', '--yes', 'asking');
    assert.match(updated.err, /its tools were not asked for/);
    assert.match(updated.out, /-> 99\.0\.0/);
    assert.equal(authorization.grants.length, before);
    assert.match(declared('asking'), /99\.0\.0-[0-9a-f]+\/start\.mjs/);
    authorization.expire();
    assert.match(await echoed(place, 'asking'), /over there/);
  });

  test('What was removed leaves no secret behind', async () => {
    assert.equal((await place.cellblock('remove', '--yes', 'asking')).code, 0);
    assert.deepEqual(fs.readdirSync(path.join(place.configuration, 'secrets')), ['closed.REMOTE_TOKEN']);
  });

  test('An authorization server that is not named is not reached', async () => {
    const authorization = new AuthorizationServer();
    await authorization.start();
    servers.push(authorization);
    const server = await started({ authorization });
    const added = await place.add('unnamed', [server.url]);
    assert.notEqual(added.code, 0);
    assert.match(added.err, /could not be authorized/);
    assert.equal(authorization.requests, 0);
    assert.ok(!place.isDeclared('unnamed'));
  });
});
