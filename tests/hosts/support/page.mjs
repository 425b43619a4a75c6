// docs/hosts.md shows what the tests see: the same entries, and the same lines of hosts.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';

import { fixtures } from '../../sdk/support/daemon.mjs';

const page = fs.readFileSync(path.join(fixtures, '../../docs/hosts.md'), 'utf8');
const escapes = /\x1b\[[0-9;]*m/g;

export const plain = (text) => text.replace(escapes, '');

// With the paths of the page, and without the flag that says where the daemon of the test is.
function asOnPage(text, directory) {
  return text.replace(/"--socket",\s*"[^"]*",\s*/g, '').replace(/--socket \S+ /g, '')
    .replaceAll(`${directory}/project`, '/srv/project').replaceAll(`${directory}/mcp/node_modules`, '/opt/mcp');
}

export function assertShown(text, pattern, directory) {
  const [found] = pattern.exec(plain(text)) ?? assert.fail(`nothing like ${pattern} in:\n${text}`);
  for (const line of asOnPage(found, directory).split('\n')) {
    assert.ok(page.includes(line.trim()), `docs/hosts.md does not show: ${line}`);
  }
}

export function assertVersion(title, version, revision) {
  assert.ok(page.includes(`| ${title} | ${version} | ${revision}`), `docs/hosts.md does not say: ${title} ${version} speaks ${revision}`);
}

export function assertEntries(language, text, directory) {
  const block = `\`\`\`${language}\n${asOnPage(text, directory)}\`\`\`\n`;
  assert.ok(page.includes(block), `docs/hosts.md does not show:\n${block}`);
}
