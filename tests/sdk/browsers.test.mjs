// Servers that start a browser run in a cell with profile = "browser": they open a page of this test's over egress,
// click in it and take a picture. Needs Debian's chromium and tests/fixtures/browsers/install.sh; skipped without.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, fixtures } from './support/daemon.mjs';

const chromium = '/usr/lib/chromium/chromium';
const packages = path.join(fixtures, 'browsers', 'node_modules');
const lacks = [chromium, packages].filter((needed) => !fs.existsSync(needed));
const skip = lacks.length > 0 && `this machine lacks ${lacks.join(' and ')}`;

const page = `<!doctype html><title>A page</title>
<button onclick="document.title = 'Clicked'; document.querySelector('p').textContent = 'it was clicked'">Press</button><p>waiting</p>`;
const pages = createServer((request, response) => response.setHeader('content-type', 'text/html').end(page));
const daemon = new Daemon();
const modules = path.join(daemon.directory, 'browsers');

const textOf = (result) => result.content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
const picturesOf = (result) => result.content.filter(({ type }) => type === 'image').map(({ data }) => Buffer.from(data, 'base64'));
const isPicture = (bytes) => bytes.length > 500 && (bytes.subarray(1, 4).toString() === 'PNG' || bytes.readUInt16BE(0) === 0xffd8);

before(async () => {
  if (skip) return;
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  fs.cpSync(packages, path.join(modules, 'node_modules'), { recursive: true });
  const lines = ['profile = "browser"', 'network = "egress"', `egress = { allow = ["127.0.0.1/32:${pages.address().port}"] }`,
                 `read = ["${modules}"]`, 'limits = { tmp = "1GiB", pids = 1024 }'];
  const script = (name) => path.join(modules, 'node_modules', name);
  daemon.declareScript('playwright', script('@playwright/mcp/cli.js'),
                       ['--headless', '--no-sandbox', '--executable-path', chromium], lines);
  daemon.declareScript('devtools', script('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'),
                       ['--headless', '--isolated', '--executablePath', chromium, '--chromeArg=--no-sandbox'], lines);
  // Not by a port: a cell with egress may not listen.
  const options = JSON.stringify({ headless: true, pipe: true, executablePath: chromium, args: ['--no-sandbox'] });
  daemon.declareScript('puppeteer', script('@modelcontextprotocol/server-puppeteer/dist/index.js'), [],
                       [...lines, `env = { PUPPETEER_LAUNCH_OPTIONS = ${JSON.stringify(options)}, ALLOW_DANGEROUS = "true" }`]);
  await daemon.start();
});
after(async () => {
  if (!skip) pages.close();
  await daemon.stop();
});

const url = () => `http://127.0.0.1:${pages.address().port}/`;
// The name that a snapshot has for the button.
const buttonIn = (snapshot, like) => like.exec(snapshot)?.[1] ?? assert.fail(`no button in:\n${snapshot}`);

async function used(name, use) {
  const { client, call } = await connect(sdks[0], daemon.throughCell(name));
  const checked = async (tool, args) => {
    const result = await call(tool, args, { timeout: 90_000 });
    assert.ok(!result.isError, textOf(result));
    return result;
  };
  try {
    await use(checked);
  } finally {
    await client.close();
  }
}

describe('with profile = "browser"', { skip }, () => {
  test('Playwright opens a page, clicks and takes a picture', () => used('playwright', async (call) => {
    assert.match(textOf(await call('browser_navigate', { url: url() })), /Page Title: A page/);
    const target = buttonIn(textOf(await call('browser_snapshot', {})), /button "Press".*?\[ref=(\w+)\]/);
    await call('browser_click', { element: 'Press', target });
    assert.match(textOf(await call('browser_snapshot', {})), /it was clicked/);
    assert.ok(picturesOf(await call('browser_take_screenshot', { scale: 'css' })).some(isPicture));
  }));

  test('Chrome DevTools opens a page, clicks and takes a picture', () => used('devtools', async (call) => {
    const pages = textOf(await call('new_page', { url: url() }));
    const pageId = Number(/^(\d+): .*\[selected\]/m.exec(pages)[1]);
    const uid = buttonIn(textOf(await call('take_snapshot', { pageId })), /uid=(\w+) button "Press"/);
    await call('click', { pageId, uid });
    assert.match(textOf(await call('take_snapshot', { pageId })), /it was clicked/);
    assert.ok(picturesOf(await call('take_screenshot', { pageId })).some(isPicture));
  }));

  test('Puppeteer opens a page, clicks and takes a picture', () => used('puppeteer', async (call) => {
    await call('puppeteer_navigate', { url: url() });
    await call('puppeteer_click', { selector: 'button' });
    assert.match(textOf(await call('puppeteer_evaluate', { script: 'document.title' })), /Clicked/);
    assert.ok(picturesOf(await call('puppeteer_screenshot', { name: 'page' })).some(isPicture));
  }));
});
