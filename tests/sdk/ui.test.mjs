// `cellblock ui`: its page is driven by a browser's real clicks, and its server is asked as no page of its own asks.
// Needs Debian's chromium and tests/fixtures/browsers/install.sh; what needs a browser is skipped without.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { asHost, Daemon, hostId } from './support/daemon.mjs';
import { declareMock, said, setRules } from './support/mock.mjs';
import { lacksBrowser, openBrowser, Page } from './support/page.mjs';

const [v1] = sdks;
const isRoot = process.getuid() === 0;
const who = isRoot ? hostId : process.getuid();
const daemon = new Daemon();
const hostile = '<img src=x onerror="document.title=1">\u202egnp';
const usual = { width: 860, height: 520 };
const pictures = process.env.CELLBLOCK_TEST_PICTURES; // a directory: what the page looks like is kept there

const tool = (name, description = 'Does it') => ({ name, description, inputSchema: { type: 'object' } });
const offer = (...tools) => ({ 'tools/list': [{ answer: { tools } }], 'tools/call': [{ answer: said(hostile) }] });

before(async () => {
  const asks = `[[server.asking.rule]]\neffect = "ask"\nusers = [${who}]\ntools = ["push"]\napprover = "admin"\napproval_timeout = "60s"`;
  declareMock(daemon, 'asking', offer(tool('push'), tool('pull')), ['era = "legacy"', 'pin = "off"', asks]);
  declareMock(daemon, 'hostile', offer(tool('<b>bold</b>'), tool('plain')), ['era = "legacy"', 'pin = "tofu"']);
  declareMock(daemon, 'weak', { 'tools/call': [{ stderr: '<b>wrote</b> this\n' }, { answer: said('looked') }] }, ['era = "legacy"', 'network = "host"']);
  declareMock(daemon, 'failing', { initialize: [{ stderr: 'no such <i>database</i>\n' }, { exit: 1 }] }, ['era = "legacy"']);
  daemon.declareFixture('fetch', 'fetch_server.mjs');
  await daemon.start();
});
after(() => daemon.stop());

// ---- who may ask ----

// With headers that fetch() would not send.
function ask(page, { method = 'GET', at = '/api/events', headers = {}, body = '', socket } = {}) {
  return new Promise((resolve, reject) => {
    const where = socket ? { socketPath: socket } : { host: new URL(page.origin).hostname, port: new URL(page.origin).port };
    const request = http.request({ ...where, method, path: at, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function loggedIn(page) {
  const answer = await page.post({ token: page.token });
  assert.equal(answer.status, 200);
  const { key } = await answer.json();
  return { cookie: answer.headers.get('set-cookie').split(';')[0], 'x-cellblock-key': key };
}

describe('The server of the page', () => {
  let page;
  before(async () => { page = await Page.of(daemon); });
  after(() => page.end());

  test('refuses a Host that is not its own, even for its files', async () => {
    for (const host of ['evil.example', 'evil.example:1', '127.0.0.1', '127.0.0.1:1', '127.0.0.1.evil.example:80', `localhost:${new URL(page.origin).port}`]) {
      assert.equal((await ask(page, { at: '/', headers: { host } })).status, 403, host);
    }
  });

  test('says in each answer that nothing foreign is loaded, embedded or kept', async () => {
    const { status, headers } = await ask(page, { at: '/' });
    assert.equal(status, 200);
    assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });

  test('has the icon that its page names', async () => {
    const [, icon] = /<link rel="icon" href="([^"]+)"/.exec((await ask(page, { at: '/' })).text);
    const { status, headers } = await ask(page, { at: icon });
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'image/svg+xml');
  });

  test('refuses a login from another origin, with a wrong token, and a second one with the same token', async () => {
    assert.equal((await page.post({ token: page.token }, { origin: 'http://evil.example' })).status, 403);
    assert.equal((await ask(page, { method: 'POST', at: '/api/login', body: JSON.stringify({ token: page.token }) })).status, 403);
    assert.equal((await page.post({ token: 'f'.repeat(64) })).status, 401);
    const session = await loggedIn(page);
    const again = await page.post({ token: page.token });
    assert.equal(again.status, 401);
    assert.match(await again.text(), /used already/);

    assert.equal((await ask(page, { at: '/api/explain?server=asking' })).status, 401);
    assert.equal((await ask(page, { at: '/api/explain?server=asking', headers: { cookie: session.cookie } })).status, 401);
    assert.equal((await ask(page, { at: '/api/explain?server=asking', headers: { 'x-cellblock-key': session['x-cellblock-key'] } })).status, 401);
    assert.equal((await ask(page, { at: '/api/explain?server=asking', headers: { ...session, origin: 'http://evil.example' } })).status, 403);
    assert.equal((await ask(page, { at: '/api/explain?server=asking', headers: { ...session, 'sec-fetch-site': 'cross-site' } })).status, 403);
    assert.equal((await ask(page, { method: 'POST', at: '/api/stop', headers: session, body: '{"server":"asking"}' })).status, 403);
    const { status, text } = await ask(page, { at: '/api/explain?server=asking', headers: session });
    assert.equal(status, 200);
    assert.equal(JSON.parse(JSON.parse(text).out).server, 'asking');
    assert.equal((await ask(page, { at: '/api/explain?server=--help', headers: session })).status, 400);
  });

  test('refuses another user of this machine, who knows the address', { skip: !isRoot }, () => {
    const { stdout } = spawnSync('setpriv', ['--reuid', '64102', '--regid', '64102', '--clear-groups', '--', 'curl', '--silent', '--include', page.origin], { encoding: 'utf8' });
    assert.match(stdout, /^HTTP\/1.1 403/);
    assert.match(stdout, /another user runs this page/);
  });

  test('answers a request that is too long or has a malformed query with an error, and goes on', async () => {
    assert.equal((await ask(page, { at: `/${'x'.repeat(9000)}` })).status, 400);
    assert.equal((await ask(page, { at: '/api/audit?who=%zz' })).status, 400);
    assert.equal((await ask(page, { at: '/' })).status, 200);
  });

  test('refuses a path without a name, and one where something is', () => {
    const listen = (socket) => spawnSync(path.join(daemon.directory, 'bin', 'cellblock'), ['ui', '--no-open', '--listen', socket], { encoding: 'utf8', timeout: 20_000, env: { CELLBLOCK_SOCKET: daemon.socket } });
    assert.match(listen('').stderr, /--listen: the path is empty/);
    assert.match(listen(path.join(daemon.directory, 'cellblock.toml')).stderr, /something is there already/);
    assert.match(listen(`/tmp/${'x'.repeat(200)}`).stderr, /the path is longer than 107 bytes/);
  });

  test('serves at a Unix socket of its user alone, which is gone afterwards', async () => {
    const socket = path.join(daemon.directory, 'ui.sock');
    const forwarded = await Page.of(daemon, { args: ['--listen', socket] });
    assert.equal(fs.statSync(socket).mode & 0o777, 0o700);
    assert.equal((await ask(forwarded, { socket, at: '/', headers: { host: '127.0.0.1:1234' } })).status, 200);
    assert.equal((await ask(forwarded, { socket, at: '/', headers: { host: 'evil.example:1234' } })).status, 403);
    const login = { socket, method: 'POST', at: '/api/login', body: JSON.stringify({ token: forwarded.token }) };
    assert.equal((await ask(forwarded, { ...login, headers: { host: '127.0.0.1:1234', origin: 'http://127.0.0.1:99' } })).status, 403);
    assert.equal((await ask(forwarded, { ...login, headers: { host: '127.0.0.1:1234', origin: 'http://127.0.0.1:1234' } })).status, 200);
    assert.equal(await forwarded.end(), 0);
    assert.ok(!fs.existsSync(socket));
  });

  test('ends when it is told to', async () => {
    const other = await Page.of(daemon);
    assert.equal(await other.end(), 0);
  });
});

// ---- what a person sees and does ----

describe('The page in a browser', { skip: lacksBrowser }, () => {
  let browser;
  let page;
  let tab;
  let host;

  const shows = (text, within = 'body') => tab.waitForFunction((wanted, where) => document.querySelector(where)?.innerText.includes(wanted), { timeout: 60_000 }, text, within);
  const click = async (selector) => (await tab.waitForSelector(selector, { visible: true, timeout: 60_000 })).click();
  const openPart = async (server, title) => {
    const summary = await tab.waitForSelector(`article[aria-label="${server}"] ::-p-xpath(.//summary[contains(., "${title}")])`);
    await summary.click();
  };
  const picture = async (name) => pictures && tab.screenshot({ path: path.join(pictures, `ui-${name}.png`) });
  const textOf = (selector) => tab.$eval(selector, ({ innerText }) => innerText);

  async function enter(run) {
    const opened = await browser.newPage();
    await opened.setViewport(usual);
    await opened.goto(run.address);
    return opened;
  }

  before(async () => {
    browser = await openBrowser();
    host = await connect(v1, daemon.throughCell('asking'));
    page = await Page.of(daemon);
    tab = await enter(page);
  });
  after(async () => {
    await host?.client.close();
    await browser?.close();
    await page?.end();
  });

  test('shows each server with its state, and what weakens it', async () => {
    await shows('asking', '#service-cards');
    assert.equal(await tab.evaluate(() => location.hash), '#services', 'the token is out of the address');
    await shows('ready', 'article[aria-label="asking"]');
    await shows('network = "host"', 'article[aria-label="weak"]');
    await picture('services');
  });

  test('explains a server in the words of the command', async () => {
    await openPart('asking', 'What its cell may see and do');
    await shows('Network', 'article[aria-label="asking"] details[open]');
    await picture('explained');
  });

  test('tells why a server failed, and what mends it', async () => {
    await assert.rejects(connect(v1, daemon.throughCell('failing')));
    await shows('no such <i>database</i>', 'article[aria-label="failing"] .failure');
    await openPart('failing', 'what mends it');
    await shows('It ended before it answered', 'article[aria-label="failing"] details[open]');
    await picture('failing');
  });

  test('holds a call until a person has seen all of it and allows it by a click', async () => {
    const answer = host.call('push', { to: 'origin', note: hostile }, { timeout: 90_000 });
    await click('a[href="#decisions"]');
    await shows('Rule that asks', '#calls');
    await shows('rule[1] (', '#calls');
    assert.match(await textOf('#calls .facts'), /server\.asking\.rule\[1\] \(\S+\.toml line \d+\)/, 'as explain names it');
    const shown = await textOf('#calls .params');
    assert.match(shown, /<img src=x onerror/, 'markup is text');
    assert.match(shown, /\\u202egnp/, 'a character that reorders text is its number');
    assert.equal(await tab.$('#calls img'), null);
    await tab.waitForSelector('#calls button.allow:not(:disabled)', { timeout: 60_000 });
    await picture('decisions');
    await click('#calls button.allow:not(:disabled)');
    assert.equal((await answer).content[0].text, hostile);
    await shows('No call waits', '#calls');
    await shows('Allowed once: push of asking', '#said');
  });

  test('denies a call by a click', async () => {
    const answer = host.call('push', { to: 'elsewhere' }, { timeout: 90_000 });
    await click('#calls button.deny:not(:disabled)');
    assert.ok((await answer).isError);
  });

  test('decides about nothing for a moment after a call has come or gone, since another may be below the pointer then', async () => {
    const waits = (count) => tab.waitForFunction((wanted) => document.querySelectorAll('#calls button.allow').length === wanted, { timeout: 60_000 }, count);
    const isOff = () => tab.$$eval('#calls button.allow', (all) => all.map(({ disabled }) => disabled));
    const first = host.call('push', { to: 'first' }, { timeout: 90_000 });
    const second = host.call('push', { to: 'second' }, { timeout: 90_000 });
    await waits(2);
    assert.deepEqual(await isOff(), [true, true]);
    await click('#calls article:first-of-type button.deny:not(:disabled)');
    assert.ok((await first).isError);
    await waits(1);
    assert.deepEqual(await isOff(), [true], 'what has moved up');
    await click('#calls button.deny:not(:disabled)');
    assert.ok((await second).isError);
  });

  test('shows a changed definition beside what was accepted, and accepts it by a click', async () => {
    const first = await connect(v1, daemon.throughCell('hostile'));
    assert.equal((await first.client.listTools()).tools.length, 2);
    await first.client.close();
    setRules(daemon, 'hostile', offer(tool('<b>bold</b>', 'Does <i>more</i>'), tool('plain')));
    await daemon.command('restart', 'hostile');
    const second = await connect(v1, daemon.throughCell('hostile'));
    await second.client.listTools();
    await shows('Does <i>more</i>', '#withheld');
    assert.equal(await tab.$('#withheld b, #withheld i'), null);
    await picture('withheld');
    await click('#withheld button.allow:not(:disabled)');
    await shows('Nothing is withheld', '#withheld');
    await second.client.close();
  });

  test('shows a tool whose name would like to be markup as it is written', async () => {
    await click('a[href="#services"]');
    await openPart('hostile', 'Tools, and the rule');
    await shows('<b>bold</b>', 'article[aria-label="hostile"]');
    await picture('tools');
    await shows('allow', 'article[aria-label="hostile"] td.good');
    assert.match(await textOf('article[aria-label="hostile"] td.good'), /server\.hostile\.\S+ \(\S+\.toml line \d+\)/);
    assert.equal(await tab.$('#service-cards b'), null);
  });

  test('shows what a server writes, as it comes', async () => {
    await openPart('weak', 'Log');
    const { client, call } = await connect(v1, daemon.throughCell('weak'));
    await call('look');
    await shows('<b>wrote</b> this', 'article[aria-label="weak"] .log');
    await client.close();
  });

  test('offers to switch everything off while it is on, and on while it is off', async () => {
    const flip = (...words) => spawnSync(path.join(daemon.directory, 'bin', 'cellblock'), words, { env: { CELLBLOCK_SOCKET: daemon.socket } });
    const offers = () => tab.$$eval('#installation-actions button', (all) => all.map(({ innerText }) => innerText));
    assert.deepEqual(await offers(), ['Reload', 'Switch everything off']);
    flip('disable', '--reason', 'a drill');
    await shows('Switch on', '#installation-actions');
    assert.deepEqual(await offers(), ['Reload', 'Switch on']);
    flip('enable');
    await shows('Switch everything off', '#installation-actions');
    host = await connect(v1, daemon.throughCell('asking'));
    await shows('ready', 'article[aria-label="asking"]');
  });

  test('stops the cells of a server after a question', async () => {
    await click('button[aria-label="Stop asking"]');
    await click('article[aria-label="asking"] [role=alertdialog] button.danger');
    await shows('Stop: done for asking', '#said');
    await shows('none runs', 'article[aria-label="asking"]');
  });

  test('finds records of the audit log, and shows a call from its request to its result', async () => {
    await click('a[href="#audit"]');
    assert.equal(await tab.$eval('input[name="since"]', ({ value }) => value), '24h', 'a day, unless more is asked for');
    await shows('allowed by ', '#audit-lines');
    await shows('times are UTC', '#whose');
    assert.match(await textOf('#audit-lines tbody td'), /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
    if (isRoot) await shows('allowed by root (uid 0)', '#audit-lines');
    await tab.type('input[name="server"]', 'asking');
    await tab.select('select[name="kind"]', 'call_ended');
    await click('#audit-filter button');
    await shows('call_ended', '#audit-lines');
    await picture('audit');
    await click('#audit-lines td button');
    await shows('call_ended', '#audit-call');
    await shows('allowed by uid', '#audit-call');
    await click('#verify');
    await shows('The chain is whole', '#audit-state');
  });

  test('shows what a server was refused, and copies the line that allows it', async () => {
    const { client, call } = await connect(v1, daemon.throughCell('fetch'));
    assert.ok((await call('fetch', { url: 'https://files.example.org/' })).isError);
    await browser.defaultBrowserContext().overridePermissions(page.origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
    await shows('Refused', 'article[aria-label="fetch"]');
    await click('a[href="#learn"]');
    await shows('files.example.org', '#refusals');
    await shows('Nothing needs to be allowed', '#refusals');
    await picture('learn');
    await click('#refusals td button');
    await shows('Copied', '#said');
    assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /^network = "egress"\negress\.allow = \["files\.example\.org:443"\]$/, 'lines of TOML');
    await client.close();
  });

  test('has the commands that add a server', async () => {
    await click('a[href="#learn"]');
    await shows('cellblock add', '#add');
  });

  test('fits a narrow screen, in dark as in light', async () => {
    await tab.setViewport({ width: 360, height: 720 });
    await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    for (const view of ['decisions', 'audit', 'learn', 'services']) {
      await click(`a[href="#${view}"]`);
      await tab.waitForSelector(`#view-${view}`, { visible: true });
      assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
      await picture(`narrow-${view}`);
    }
    await tab.setViewport(usual);
    await picture('dark-services');
    await tab.emulateMediaFeatures([]);
  });

  test('says that the daemon is gone, and goes on when it is there again', async () => {
    await click('a[href="#services"]');
    await daemon.end();
    await tab.waitForSelector('#trouble', { visible: true });
    await daemon.startAgain();
    await tab.waitForSelector('#trouble', { hidden: true });
    await shows('asking', '#service-cards');
  });

  test('goes on after the page was loaded anew, and in no other tab', async () => {
    await tab.reload();
    await shows('asking', '#service-cards');
    const other = await browser.newPage();
    await other.goto(page.origin);
    await other.waitForSelector('#view-login', { visible: true });
    await other.close();
  });

  test('can be walked through by the keyboard, and names all that it has for screen readers', async () => {
    await tab.keyboard.press('Tab');
    assert.equal(await tab.evaluate(() => document.activeElement.textContent), 'Skip to content');
    const unnamed = await tab.$$eval('button, input, select', (controls) => controls.filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).length);
    assert.equal(unnamed, 0);
  });

  test('says who reads it that it is over when cellblock ui ends', async () => {
    await page.end();
    await shows('cellblock ui does not answer', '#trouble');
  });

  test('shows a user what is his own, and no decision about it', { skip: !isRoot }, async () => {
    const own = await Page.of(daemon, { prefix: asHost, args: ['--browser', '0'] });
    tab = await enter(own);
    await shows('asking', '#service-cards');
    assert.match(await textOf('#whose'), new RegExp(`^${hostId}`));
    assert.equal(await tab.$('#installation-actions button'), null);
    await click('a[href="#decisions"]');
    await shows('Only root and the users of daemon.admins decide');
    await tab.evaluate(() => {
      globalThis.troubles = [];
      new MutationObserver(() => globalThis.troubles.push(document.querySelector('#trouble').textContent)).observe(document.querySelector('#trouble'), { childList: true });
    });
    const asRoot = (...words) => spawnSync(path.join(daemon.directory, 'bin', 'cellblock'), words, { env: { CELLBLOCK_SOCKET: daemon.socket } });
    asRoot('disable', '--reason', 'a drill');
    await shows('a drill', '#trouble');
    assert.doesNotMatch((await tab.evaluate(() => globalThis.troubles)).join(), /closed the connection/);
    asRoot('enable');
    await tab.waitForSelector('#trouble', { hidden: true });
    await own.end();
  });
});
