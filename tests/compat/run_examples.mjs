// What the declarations of examples/servers.d do: run_examples.mjs [--keep DIRECTORY] [NAME...]
//
// Each package is installed by npm, without its scripts, at the version that its file names. Its tools are listed by the official
// SDK's client once beside a cell, as an ordinary user, and once through cellblock; and where tests/compat/servers.json names a
// harmless call, both are called. Keys are made up. Prints a table, and with no names puts it into README.md beside it. Needs npm, its registry and
// CELLBLOCK_TEST_BIN. --keep: packages are kept there, and taken from there if they are there.

import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect, sdks } from '../sdk/support/clients.mjs';
import { asHost, Daemon, hostId } from '../sdk/support/daemon.mjs';
import { examples, Places } from '../sdk/support/examples.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const isRoot = process.getuid() === 0;
const patience = { timeout: 60_000 };
const args = process.argv.slice(2);
const kept = args[0] === '--keep' ? path.resolve(args.splice(0, 2)[1]) : undefined;

const daemon = new Daemon();
const modules = kept ?? path.join(daemon.directory, 'examples');
const places = new Places(daemon.directory, isRoot ? hostId : process.getuid(), (name) => path.join(modules, name));
const known = JSON.parse(fs.readFileSync(path.join(here, 'servers.json'), 'utf8'));
const packageOf = ({ packaged }) => packaged.slice(0, packaged.lastIndexOf('@'));

function install(example) {
  const prefix = places.program(example.name);
  if (fs.existsSync(places.placed(example.name, example.declared.command[1]))) return;
  fs.mkdirSync(prefix, { recursive: true });
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error',
                                               example.packaged], { encoding: 'utf8', env: { ...process.env, PUPPETEER_SKIP_DOWNLOAD: '1' } });
  if (status !== 0) throw new Error(`npm: ${stderr.trim().split('\n')[0]}`);
}

function beside(example) {
  const home = path.join(daemon.directory, 'homes', example.name);
  fs.mkdirSync(home, { recursive: true });
  for (const [below, file] of Object.entries(example.declared.home_files ?? {})) {
    fs.mkdirSync(path.dirname(path.join(home, below)), { recursive: true });
    fs.copyFileSync(places.placed(example.name, file), path.join(home, below));
  }
  if (isRoot) execFileSync('chown', ['-R', `${hostId}`, home]);
  const [command, ...rest] = [...asHost, ...places.command(example)];
  return { command, args: rest, env: { PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8', ...places.variables(example, home) }, cwd: home, stderr: 'ignore' };
}

async function tried(parameters, wanted) {
  const began = performance.now();
  let client;
  try {
    const connected = await connect(sdks[0], parameters, {});
    client = connected.client;
    const { tools } = await client.listTools({}, patience);
    const seconds = (performance.now() - began) / 1000;
    const result = wanted ? await connected.call(...wanted, patience) : undefined;
    return { names: tools.map(({ name }) => name).sort(), seconds, answered: result && !result.isError };
  } catch (error) {
    return { trouble: error.message.split('\n')[0].replaceAll('|', '\\|').slice(0, 160) };
  } finally {
    await client?.close().catch(() => {});
  }
}

const asWord = (answered) => (answered === undefined ? '' : answered ? 'yes' : 'no');

async function row(example) {
  const call = known.find(({ package: name }) => name === packageOf(example))?.call;
  const wanted = call && JSON.parse(JSON.stringify(call).replaceAll('PROJECT', path.join(places.home, 'project')));
  const bare = await tried(beside(example), wanted);
  const celled = await tried(daemon.throughCell(example.name), wanted);
  const same = Boolean(bare.names && celled.names && JSON.stringify(bare.names) === JSON.stringify(celled.names)) && bare.answered === celled.answered;
  const lacking = (bare.names ?? []).filter((name) => celled.names && !celled.names.includes(name));
  const said = celled.trouble ?? bare.trouble ?? (lacking.length > 0 ? `withheld: ${lacking.join(', ')}` : '');
  const side = ({ names, seconds }) => (names ? `${names.length} tools, ${seconds.toFixed(1)} s` : 'no');
  return { celled, same, line: `| \`${example.packaged}\` | ${side(bare)} | ${side(celled)} | ${asWord(celled.answered)} | ${same ? 'yes' : 'no'} | ${said} |` };
}

const chosen = examples().filter(({ name }) => args.length === 0 || args.includes(name));
const lines = [];
const usable = [];
for (const example of chosen) {
  try {
    install(example);
    places.make(example);
    daemon.more += `\n${places.placed(example.name, example.text)}`;
    usable.push(example);
  } catch (error) {
    lines.push(`| \`${example.packaged}\` | | | | | ${error.message} |`);
  }
}
let listed = 0;
let alike = 0;
try {
  await daemon.start();
  for (const example of usable) {
    const { celled, same, line } = await row(example);
    listed += celled.names ? 1 : 0;
    alike += same ? 1 : 0;
    lines.push(line);
    console.log(line);
  }
} finally {
  await daemon.stop();
}
const machine = `${os.cpus()[0]?.model.trim() ?? os.arch()}, ${os.availableParallelism()} processors, Linux ${os.release().split('-')[0]}, Node.js ${process.versions.node}, ${isRoot ? 'system mode' : 'rootless'}, build ${path.basename(path.dirname(process.env.CELLBLOCK_TEST_BIN ?? 'dev/bin'))}`;
const table = `${new Date().toISOString().slice(0, 10)}, ${machine}. ${listed} of ${chosen.length} list their tools in a cell; ${alike} list and answer as beside one.

| package | beside a cell | in its cell | harmless call | the same | what went wrong |
|---|---|---|---|---|---|
${lines.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).join('\n')}
`;
console.log(`\n${table}`);
if (args.length === 0) {
  const readme = path.join(here, 'README.md');
  const text = fs.readFileSync(readme, 'utf8');
  fs.writeFileSync(readme, text.replace(/(<!-- run_examples -->\n)[\s\S]*?(<!-- end -->)/, (_, begin, end) => `${begin}${table}${end}`));
}
