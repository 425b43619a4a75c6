// The hosts: where each is installed, how it is told of its servers and of a model at an address, and how it is run.

import * as fs from 'node:fs';
import * as path from 'node:path';

import { fixtures } from '../../sdk/support/daemon.mjs';

export const packages = path.join(fixtures, 'hosts', 'node_modules');
const inPackages = (...parts) => path.join(packages, ...parts);
const script = (...parts) => [fs.realpathSync(process.execPath), inPackages(...parts)];
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

// As `cellblock export` prints it for other hosts.
function opencodeServers(servers) {
  const entries = servers.map(([name, command]) => [name, { type: 'local', command }]);
  return json({ $schema: 'https://opencode.ai/config.json', mcp: Object.fromEntries(entries) });
}

// Without `required` Codex starts its task before a slow server has listed its tools, and says nothing of one that fails; it hands servers
// few variables, and a rootless daemon is found by this one; and without a person it calls no tool that is not marked as harmless.
const codexLines = 'required = true\ndefault_tools_approval_mode = "approve"\n';
const codexEntries = (exported) => exported.replace(/^args/mg, `${codexLines}args`);

// `exported`: the name of the host for `cellblock export`; `entry` prints the entries of a host that `export` does not know; `improved`
// adds to what `export` prints. `files(servers, url)`: the files in its home, by path. `run`, `list`: command lines. `tool(server, tool)`:
// the tool's name for the model.
export const hosts = {
  'claude-code': {
    title: 'Claude Code',
    program: [inPackages('@anthropic-ai', `claude-code-linux-${process.arch}`, 'claude')],
    exported: 'claude-code',
    language: 'json',
    files: (servers) => ({ '.claude.json': json({ ...JSON.parse(servers), hasCompletedOnboarding: true }) }),
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', ANTHROPIC_MODEL: 'stand-in',
                     CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' }),
    run: (prompt, tools) => ['-p', prompt, '--allowedTools', tools.join(',')],
    list: ['mcp', 'list'],
    tool: (server, tool) => `mcp__${server}__${tool}`,
    // Its model sees tools of servers only after it has searched for them.
    search: (tools) => ({ tool: 'ToolSearch', args: { query: `select:${tools.join(',')}` } }),
  },
  codex: {
    title: 'Codex',
    program: script('@openai', 'codex', 'bin', 'codex.js'),
    exported: 'codex',
    language: 'toml',
    improved: codexEntries,
    files: (servers, url) => ({ '.codex/config.toml': `model = "gpt-5"
model_provider = "stand-in"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.stand-in]
name = "stand-in"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"

${servers}` }),
    env: () => ({ STAND_IN_KEY: 'none' }),
    run: (prompt) => ['exec', '--skip-git-repo-check', prompt],
    list: ['mcp', 'list'],
    tool: (server, tool) => `mcp__${server}:${tool}`,
  },
  gemini: {
    title: 'Gemini CLI',
    program: script('@google', 'gemini-cli', 'bundle', 'gemini.js'),
    exported: 'gemini',
    language: 'json',
    files: (servers) => ({ '.gemini/settings.json': json({
      ...JSON.parse(servers), security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } }) }),
    env: (url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
    run: (prompt) => ['-m', 'gemini-2.5-pro', '--yolo', '-p', prompt],
    list: ['mcp', 'list'],
    tool: (server, tool) => `mcp_${server}_${tool}`,
  },
  opencode: {
    title: 'OpenCode',
    program: [inPackages(`opencode-linux-${process.arch}-baseline`, 'bin', 'opencode')],
    entry: opencodeServers,
    language: 'json',
    files: (servers, url) => ({ '.config/opencode/opencode.json': json({
      ...JSON.parse(servers), autoupdate: false, share: 'disabled', model: 'stand-in/model',
      provider: { 'stand-in': { npm: '@ai-sdk/openai-compatible', name: 'stand-in', options: { baseURL: `${url}/v1`, apiKey: 'none' },
                                models: { model: { name: 'model', tool_call: true } } } } }) }),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
    run: (prompt) => ['run', prompt],
    list: ['mcp', 'list'],
    tool: (server, tool) => `${server}_${tool}`,
  },
};
