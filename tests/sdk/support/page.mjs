// `cellblock ui` and a browser that looks at its page. Needs Debian's chromium and tests/fixtures/browsers/install.sh.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { createInterface } from 'node:readline';

import { fixtures } from './daemon.mjs';

const chromium = '/usr/lib/chromium/chromium';
const packages = path.join(fixtures, 'browsers', 'node_modules');
const lacks = [chromium, packages].filter((needed) => !fs.existsSync(needed));
export const lacksBrowser = lacks.length > 0 && `this machine lacks ${lacks.join(' and ')}`;

export async function openBrowser() {
  const puppeteer = createRequire(path.join(packages, 'index.js'))('puppeteer');
  return puppeteer.launch({ executablePath: chromium, headless: true, pipe: true, args: ['--no-sandbox', '--disable-gpu'] });
}

// One run of `cellblock ui`, by whom the prefix of the command says.
export class Page {
  static async of(daemon, { prefix = [], args = [] } = {}) {
    const page = new Page();
    const words = [...prefix, path.join(daemon.directory, 'bin', 'cellblock'), '--json', 'ui', '--no-open', ...args];
    const env = { PATH: '/usr/bin:/bin', CELLBLOCK_SOCKET: daemon.socket, CELLBLOCK_CONFIG: path.join(daemon.directory, 'cellblock.toml'), ASAN_OPTIONS: 'detect_leaks=0' };
    page.process = spawn(words[0], words.slice(1), { env, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: page.process.stdout }), 'line');
    page.address = JSON.parse(line).address;
    page.origin = URL.canParse(page.address) && new URL(page.address).origin; // none of a Unix socket
    page.token = page.address.split('login=')[1];
    return page;
  }

  post(body, headers = {}) {
    return fetch(`${this.origin}/api/login`, { method: 'POST', headers: { origin: this.origin, ...headers }, body: JSON.stringify(body) });
  }

  async end() {
    if (this.process.exitCode !== null) return this.process.exitCode;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    return (await ended)[0];
  }
}
