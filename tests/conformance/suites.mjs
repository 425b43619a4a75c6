// The official conformance suites, run against a URL.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { once } from 'node:events';

import { fixtures } from '../sdk/support/daemon.mjs';

const modules = path.join(fixtures, 'node_modules');
const node = path.join(modules, `node-linux-${process.arch}`, 'bin', 'node'); // the suites need Node 22

// `scenarios`: how many must pass. `besides`: those that a revision's set runs without counting them,
// and that are held to all the same.
export const suites = [
  { name: '0.1.16, active', version: '0.1', args: [], besides: [], scenarios: 30 },
  {
    name: '0.2.0-alpha.12, 2025-11-25', version: '0.2', args: ['--requirements', '2025-11-25'],
    besides: ['server-session-lifecycle', 'json-schema-2020-12', 'server-sse-polling'], scenarios: 33,
  },
  {
    name: '0.2.0-alpha.12, 2026-07-28', version: '0.2', args: ['--requirements', '2026-07-28'],
    besides: [], scenarios: 37,
  },
];

async function output(command, args, cwd) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk) => { text += chunk; });
  child.stderr.on('data', (chunk) => { text += chunk; });
  await once(child, 'close');
  return text;
}

// What a suite's output says: the names of what passed and failed, of those that count.
export function readSummary(text, besides) {
  const summary = text.slice(text.indexOf('=== SUMMARY ==='));
  const [results, uncounted = ''] = summary.split(/^Not scored for/m);
  const left = new Set([...uncounted.matchAll(/^ +[✓✗] ([\w-]+)/gm)].map((match) => match[1]));
  const counted = [...results.matchAll(/^([✓✗]) ([\w-]+): \d+ passed/gm)]
    .filter(([, , name]) => !left.has(name) || besides.includes(name));
  const marked = (wanted) => counted.filter(([, mark]) => mark === wanted).map(([, , name]) => name);
  return { passed: marked('✓'), failed: marked('✗') };
}

// Why the scenarios failed, of the files that the suite wrote.
function causes(directory, failed) {
  const found = [];
  for (const name of fs.existsSync(directory) ? fs.readdirSync(directory) : []) {
    const scenario = failed.find((candidate) => name.startsWith(`server-${candidate}-2`)); // then the date
    if (scenario === undefined) continue;
    const checks = JSON.parse(fs.readFileSync(path.join(directory, name, 'checks.json'), 'utf8'));
    for (const { id, status, errorMessage } of checks) {
      if (status === 'FAILURE') found.push(`${scenario}: ${id}: ${errorMessage}`);
    }
  }
  return found;
}

// Runs a suite. Some of its checks give a server half a second, which a machine that is busy with other
// tests can miss: what failed is looked at once more, and has failed only if it does again.
export async function run(suite, url) {
  const first = await runOnce(suite, url);
  if (first.failed.length === 0) return first;
  const second = await runOnce(suite, url);
  const failed = second.failed.filter((name) => first.failed.includes(name));
  const passed = [...new Set([...first.passed, ...second.passed])].filter((name) => !failed.includes(name));
  return { suite, passed, failed, causes: [...first.causes, ...second.causes] };
}

// What passed and failed, with the causes, or all that it printed if it did not finish.
async function runOnce(suite, url) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cellblock-conformance.'));
  try {
    const program = path.join(modules, `conformance-${suite.version}`, 'dist', 'index.js');
    const args = [program, 'server', '--url', url, '--output-dir', directory, ...suite.args];
    const text = await output(node, args, directory);
    const summary = readSummary(text, suite.besides);
    const finished = summary.passed.length + summary.failed.length > 0;
    return { suite, ...summary, causes: finished ? causes(directory, summary.failed) : [text] };
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
