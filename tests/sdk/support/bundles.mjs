// MCP bundles: zip archives with a manifest, hostile ones among them.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';

import { serverScript } from './registry.mjs';

// Members with any name and mode.
const packing = `import json, sys, zipfile
job = json.load(sys.stdin)
with zipfile.ZipFile(job["file"], "w", zipfile.ZIP_DEFLATED) as archive:
    for name, text, mode in job["members"]:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, text)
`;

export const plain = 0o100644;
export const link = 0o120777;

// members: [name, text, mode]
export function writeZip(file, members) {
  const { status, stderr } = spawnSync('python3', ['-W', 'ignore', '-c', packing], { input: JSON.stringify({ file, members }), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  fs.chmodSync(file, 0o644);
}

export function manifest({ name = 'notes', version = '1.0.0', args = [], env = {}, settings = {}, ...more } = {}) {
  return JSON.stringify({
    manifest_version: '0.3', name, version, description: 'x', author: { name: 'x' },
    server: { type: 'node', entry_point: 'server/main.js',
              mcp_config: { command: 'node', args: ['${__dirname}/server/main.js', ...args], env } },
    user_config: settings, ...more });
}

// A server as the registry's packages are, in a bundle.
export function writeBundle(file, { tools = ['write', 'environment', 'files'], fails, members = [], ...described } = {}) {
  writeZip(file, [['manifest.json', manifest(described), plain], ['server/main.js', serverScript, plain],
                  ['server/package.json', JSON.stringify({ server: { tools, fails } }), plain], ...members]);
}
