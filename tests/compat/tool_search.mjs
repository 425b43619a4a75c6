#!/usr/bin/env node
// What a list of tools weighs with `connect --tools search` and without, and how often the right tool is
// among the first five that cellblock_find_tools answers:
//
//     CELLBLOCK_TEST_BIN=build/release/bin node tests/compat/tool_search.mjs [NODE_MODULES]
//
// Real servers, as one: those of tests/fixtures, and of the ones below those that NODE_MODULES has (made by
// `npm install --ignore-scripts` of their packages). None of them is called, so made-up keys are enough. Questions
// that need a server which is not there are left out. Prints tables as Markdown.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect, sdks } from '../sdk/support/clients.mjs';
import { Daemon, fixtures } from '../sdk/support/daemon.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const firsts = 5;
const key = 'made_up_0123456789';

const servers = [
  { name: 'everything', package: '@modelcontextprotocol/server-everything', isFixture: true },
  { name: 'files', package: '@modelcontextprotocol/server-filesystem', isFixture: true, needsProject: true },
  { name: 'desktop', package: '@wonderwhy-er/desktop-commander' },
  { name: 'devtools', package: 'chrome-devtools-mcp' },
  { name: 'github', package: '@modelcontextprotocol/server-github', env: { GITHUB_PERSONAL_ACCESS_TOKEN: key } },
  { name: 'gitlab', package: '@zereight/mcp-gitlab', env: { GITLAB_PERSONAL_ACCESS_TOKEN: key } },
  { name: 'maps', package: '@modelcontextprotocol/server-google-maps', env: { GOOGLE_MAPS_API_KEY: key } },
  { name: 'memory', package: '@modelcontextprotocol/server-memory' },
  { name: 'notion', package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: `ntn_${key}` } },
  { name: 'playwright', package: '@playwright/mcp' },
  { name: 'slack', package: '@modelcontextprotocol/server-slack', env: { SLACK_BOT_TOKEN: `xoxb-${key}`, SLACK_TEAM_ID: 'T1' } },
  { name: 'thinking', package: '@modelcontextprotocol/server-sequential-thinking' },
];

function scriptOf(modules, name) {
  const { bin } = JSON.parse(fs.readFileSync(path.join(modules, name, 'package.json'), 'utf8'));
  return path.join(modules, name, typeof bin === 'string' ? bin : Object.values(bin)[0]);
}

function declareAll(daemon, packages) {
  const more = path.join(daemon.directory, 'mcp', 'more', 'node_modules');
  const project = daemon.makeProject('project');
  const files = [`read = ["${daemon.directory}/mcp"]`, `write = ["${project}"]`];
  if (packages) fs.cpSync(packages, more, { recursive: true });
  for (const server of servers) {
    if (server.isFixture) {
      daemon.declare(server.name, server.package, server.needsProject ? [project] : [], server.needsProject ? files : []);
    } else if (packages && fs.existsSync(path.join(more, server.package))) {
      const env = Object.entries(server.env ?? {}).map(([name, value]) => `${name} = "${value}"`);
      daemon.declareScript(server.name, scriptOf(more, server.package), [], [`env = { ${env.join(', ')} }`]);
    }
  }
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const tokens = (bytes) => Math.ceil(bytes / 4);
const search = ({ args, ...rest }) => ({ ...rest, args: [...args, '--tools', 'search'] });

async function listed(parameters) {
  const side = await connect(sdks[0], parameters);
  const { tools, _meta } = await side.client.listTools();
  return { side, tools, missing: _meta?.['cellblock/unavailable'] ?? [] };
}

async function allTools({ client }) {
  const tools = [];
  for (let cursor; ;) {
    const page = await client.listTools(cursor ? { cursor } : {});
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (!cursor) return tools;
  }
}

function tellWeights(weights, before, after) {
  row('server', 'tools', 'bytes', 'tokens (bytes / 4)');
  row('---', '--:', '--:', '--:');
  for (const { server, tools, bytes } of weights) row(server, tools, bytes, tokens(bytes));
  for (const [name, tools] of [['**all**', before], ['**with search**', after]]) {
    const bytes = tools.reduce((sum, tool) => sum + Buffer.byteLength(JSON.stringify(tool)), 0);
    row(name, tools.length, bytes, tokens(bytes));
  }
}

async function ask(side, questions, known) {
  const asked = questions.filter(({ tools }) => tools.every((tool) => known.has(tool)));
  let [hits, firstHits, bytes] = [0, 0, 0];
  const misses = [];
  for (const { words, tools } of asked) {
    const result = await side.call('cellblock_find_tools', { words, limit: firsts });
    const found = result.structuredContent.tools.map(({ name }) => name);
    bytes += Buffer.byteLength(result.content[0].text);
    hits += found.some((name) => tools.includes(name));
    firstHits += tools.includes(found[0]);
    if (!found.some((name) => tools.includes(name))) misses.push(`- "${words}": ${found.join(', ') || 'nothing'}`);
  }
  return { asked: asked.length, hits, firstHits, bytes, misses };
}

async function main(packages) {
  const daemon = new Daemon();
  try {
    declareAll(daemon, packages);
    await daemon.start();
    let plain = await listed(daemon.together());
    while (plain.missing.some(({ reason }) => reason.includes('not known yet'))) {
      await plain.side.client.close();
      plain = await listed(daemon.together());
    }
    for (const { server, reason } of plain.missing) console.log(`not listed: ${server} (${reason})\n`);
    const tools = await allTools(plain.side);
    const short = await listed(search(daemon.together()));
    const weights = JSON.parse(await daemon.command('tools', '--weight', '--json'));
    tellWeights(weights, tools, short.tools);

    console.log();
    row('questions', 'asked', `right tool among ${firsts}`, 'right tool first', 'bytes of an answer, mean');
    row('---', '--:', '--:', '--:', '--:');
    const known = new Set(tools.map(({ name }) => name));
    const misses = [];
    for (const [name, file] of [['chosen before the ranking was seen', 'tool_questions.json'],
                                ['chosen before words that mean the same were known', 'tool_questions_later.json']]) {
      const questions = JSON.parse(fs.readFileSync(path.join(here, file), 'utf8'));
      const told = await ask(short.side, questions, known);
      row(name, told.asked, told.hits, told.firstHits, Math.round(told.bytes / Math.max(1, told.asked)));
      misses.push(...told.misses);
    }
    if (misses.length > 0) console.log(`\nNot among the first ${firsts}:\n\n${misses.join('\n')}`);
    await Promise.all([plain.side.client.close(), short.side.client.close()]);
  } finally {
    await daemon.stop();
  }
}

if (!fs.existsSync(path.join(fixtures, 'node_modules'))) throw new Error('tests/fixtures/install.sh has not been run');
await main(process.argv[2]);
