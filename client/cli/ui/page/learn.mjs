// What servers were refused, with the line that would allow it; and how another server is added.

import { block, button, byId, doing, element, fill, refill, say, time, visible } from './parts.mjs';
import { read } from './server.mjs';

const commands = ['cellblock add files -- npx -y @modelcontextprotocol/server-filesystem ~/project', 'cellblock setup', 'cellblock learn NAME -- COMMAND'];

const copied = (text, what) => button('Copy', doing(async () => {
  await navigator.clipboard.writeText(text);
  say('Copied.');
}), '', `Copy ${what}`);

// Only what is a line of TOML as it stands can be copied: "KEY = VALUE and KEY = VALUE (a note)"; other remedies are sentences.
const withoutRemedy = {
  harmless: 'Nothing needs to be allowed: it goes on without.',
  allowed: 'It is allowed already: it failed outside the cell.',
};

function remedy({ allow, what, no_remedy: why }) {
  if (!allow) return element('span', { class: 'faint' }, withoutRemedy[why] ?? 'Nothing allows it.');
  const [, text, note] = /^(.*?)(?: \(([^()]*)\))?$/.exec(allow);
  const lines = text.split(' and ');
  if (!lines.every((line) => /^[a-z_.]+ = ("[^"]*"|\["[^"]*"\])$/.test(line))) return visible(allow);
  return [block(lines.join('\n')), note && element('p', { class: 'faint' }, visible(note)), copied(lines.join('\n'), `what allows ${what}`)];
}

const row = (denial) => element('tr', {}, element('td', {}, visible(time(denial.at_ms))), element('td', {}, visible(denial.what)), element('td', {}, `${denial.count}`), element('td', {}, visible(denial.reason)),
  element('td', {}, remedy(denial)));

async function ofServer({ name, uid, user }) {
  const { json, why } = await read('/api/denied', { server: name, uid });
  const denied = json?.denied ?? [];
  const title = element('h3', {}, visible(name), user && element('span', { class: 'faint' }, ` for ${user}`));
  if (!json || json.error) return element('article', { class: 'card' }, title, element('p', { class: 'failure' }, visible(why)));
  if (denied.length === 0) return undefined;
  return element('article', { class: 'card', 'aria-label': name }, title, element('div', { class: 'wide' }, element('table', {},
    element('thead', {}, element('tr', {}, ['Last', 'What', 'Times', 'Why', 'To allow it'].map((one) => element('th', { scope: 'col' }, one)))), element('tbody', {}, denied.map(row)))));
}

function serversIn({ status }) {
  const refused = (servers, uid, user) => (servers ?? []).filter((server) => server.denied_total > 0).map(({ name }) => ({ name, uid, user }));
  if (!status.users?.map) return refused(status.servers, '', '');
  return status.users.flatMap(({ uid, user, status: of }) => refused(of.servers, `${uid}`, user));
}

export async function showLearn(news) {
  if (byId('add').childElementCount === 0) {
    fill(byId('add'), commands.map((command) => element('div', { class: 'actions' }, block(command), copied(command, command))));
  }
  if (!news?.status) return;
  const cards = [];
  for (const server of serversIn(news)) cards.push(await ofServer(server));
  const shown = cards.filter(Boolean);
  refill(byId('refusals'), shown.length > 0 ? shown : element('p', { class: 'faint' }, 'Nothing that was refused is recorded. Files that a cell may not open are refused by the kernel without a record; the command cellblock learn proposes them.'));
}
