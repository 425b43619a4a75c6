// Connected services: one card for each server, kept from one answer to the next, so that what a person has opened
// or is about to press stays where it is.

import { block, button, bytes, byId, doing, element, facts, fill, list, askFor, plot, ruleText, say, time, visible } from './parts.mjs';
import { change, follow, read } from './server.mjs';

const cards = new Map();
const onPurpose = ['stopped', 'idle', 'evicted', 'ordinary_exit'];
const samplesKept = 120; // four minutes of them
const logKept = 500;
const topics = { runs: 'Runs', files: 'Files', network: 'Network', system_calls: 'System calls', variables: 'Variables', secrets: 'Secrets',
                 limits: 'Limits', questions: 'Questions to you', who_may_call: 'Who may call', weakened: 'Weakened' };
const kinds = { ready: 'good', spare: 'good', failed: 'bad', quarantined: 'bad', broken: 'bad', disabled: 'weak' };

const counted = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const sum = (cells, name) => cells.reduce((total, cell) => total + (cell[name] ?? 0), 0);

// Those who may use it and whose gateway runs: [{ uid, user, of }]. Alone: oneself, who is not named to the command.
function usersOf(news, name) {
  if (!news.status.users?.map) return [{ uid: '', user: news.user, explained: news.uid }];
  return news.status.users.filter(({ status }) => status.servers?.some((server) => server.name === name)).map(({ uid, user }) => ({ uid: `${uid}`, user, explained: uid }));
}

async function act(path, body, done) {
  const { ok, why } = await change(path, body);
  say(ok ? done : `It was not done: ${why}`);
}

// Fills a part of a card when it is opened, and anew when it is opened again.
function part(title, load) {
  const body = element('div', {});
  let ends = new AbortController();
  const details = element('details', {}, element('summary', {}, title), body);
  details.addEventListener('toggle', () => {
    ends.abort();
    ends = new AbortController();
    if (!details.open) return;
    fill(body, element('p', { class: 'faint' }, 'Loading …'));
    load(body, ends.signal).catch((failure) => {
      if (failure.name !== 'AbortError') fill(body, element('p', { class: 'failure' }, visible(failure.message)));
    });
  });
  return details;
}

class Card {
  constructor(name) {
    this.name = name;
    this.state = element('span', { class: 'state' });
    this.who = element('select', { 'aria-label': `User of ${name}`, hidden: true });
    this.told = element('div', {});
    this.asks = element('div', {});
    this.plots = element('div', { class: 'plots' });
    this.samples = [];
    this.remedy = part('What that means, and what mends it', (body) => this.#remedy(body));
    this.actions = element('div', { class: 'actions' }, this.who,
      button('Restart', () => this.#ask('restart', 'Restart', 'The next call starts a fresh cell.'), '', `Restart ${name}`),
      button('Stop', () => this.#ask('stop', 'Stop', 'Calls in flight fail; the next session starts a cell again.'), 'danger', `Stop ${name}`));
    this.element = element('article', { class: 'card', 'aria-label': name },
      element('div', { class: 'head' }, element('h3', {}, visible(name)), this.state, this.actions), this.asks, this.told, this.remedy, this.plots,
      part('What its cell may see and do', (body) => this.#explain(body)),
      part('Tools, and the rule that decides about each', (body) => this.#tools(body)),
      part('Log', (body, signal) => this.#log(body, signal)));
  }

  get uid() { return this.who.value; }

  #ask(path, word, what) {
    fill(this.asks, askFor(`${word} the cells of ${this.name}? ${what}`, word, () => act(`/api/${path}`, { server: this.name, uid: this.uid }, `${word}: done for ${this.name}.`)));
    this.asks.querySelector('button').focus();
  }

  async #remedy(body) {
    const { json, why } = await read('/api/errors', { code: this.verdict });
    fill(body, json?.text ? block(json.text) : element('p', { class: 'failure' }, visible(why)));
  }

  async #explain(body) {
    const { json, why } = await read('/api/explain', { server: this.name });
    if (!json || json.error) return fill(body, element('p', { class: 'failure' }, visible(`It cannot be explained here: ${why}`)));
    fill(body, facts(Object.entries(topics).filter(([topic]) => json[topic]?.length).map(([topic, title]) => [title, list(json[topic])])));
  }

  // What it has listed is pinned; where nothing is, it is asked, which may start a cell.
  async #tools(body) {
    const { json, why } = await read('/api/definitions', { server: this.name, uid: this.uid });
    const of = json?.servers?.[0];
    if (!of) return fill(body, element('p', { class: 'failure' }, visible(why)));
    const tools = (of.definitions ?? []).filter(({ kind }) => kind === 'tool');
    const ask = button('Ask the server for its tools', doing(async () => {
      const asked = await read('/api/tools', { server: this.name });
      if (!Array.isArray(asked.json)) return say(asked.why);
      await this.#showTools(body, asked.json.map(({ name }) => ({ name, state: 'listed' })));
    }));
    if (tools.length === 0) return fill(body, element('p', {}, of.pin === 'off' ? 'Its definitions are not pinned (pin = "off").' : 'It has not been asked for its tools yet.'), this.uid === '' && ask);
    await this.#showTools(body, tools);
  }

  async #showTools(body, tools) {
    const rows = tools.map((tool) => ({ tool, rule: element('td', { class: 'faint' }, '…') }));
    fill(body, element('div', { class: 'wide' }, element('table', {}, element('thead', {}, element('tr', {}, ['Tool', 'Definition', 'Rule'].map((title) => element('th', { scope: 'col' }, title)))),
      element('tbody', {}, rows.map(({ tool, rule }) => element('tr', {}, element('td', {}, visible(tool.name)), element('td', { class: tool.state === 'withheld' ? 'bad' : '' }, visible(tool.state)), rule))))));
    for (const { tool, rule } of rows) {
      if (!rule.isConnected) return;
      await this.#decide(tool, rule);
    }
  }

  async #decide(tool, cell) {
    try {
      const { json, why } = await read('/api/explain', { server: this.name, uid: `${this.who.selectedOptions[0].dataset.uid}`, tool: tool.name });
      const about = json?.rule ?? json?.rules?.[0];
      cell.className = { allow: 'good', deny: 'bad', ask: 'weak' }[json?.effect] ?? 'faint';
      fill(cell, visible(json?.effect ? `${json.effect}${about?.name ? `: ${ruleText(about)}` : ''}${json.reason ? ` (${json.reason})` : ''}` : why));
    } catch (failure) {
      fill(cell, visible(failure.message));
    }
  }

  async #log(body, signal) {
    const lines = block('', { class: 'log', 'aria-label': `Log of ${this.name}` });
    lines.replaceChildren();
    fill(body, lines);
    await follow('/api/logs', { server: this.name, uid: this.uid }, (line) => {
      if (line.exit !== undefined) lines.append(element('div', { class: 'faint' }, visible(`The log ends here: ${line.err || 'the daemon is gone'}`)));
      if (line.text === undefined) return;
      const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 8;
      lines.append(element('div', {}, element('span', { class: 'faint' }, `${time(line.at_ms)}  `), visible(line.text)));
      if (lines.childElementCount > logKept) lines.firstElementChild.remove();
      if (atEnd) lines.scrollTop = lines.scrollHeight;
    }, signal);
  }

  show(server, news) {
    this.#showUsers(usersOf(news, this.name));
    this.state.textContent = server.state;
    this.state.className = `state ${kinds[server.state] ?? 'faint'}`;
    fill(this.told, this.#troubles(server), this.#facts(server, news));
    this.#plot(server, news.at_ms);
  }

  #showUsers(users) {
    const now = users.map(({ uid }) => uid).join();
    if (this.shown === now) return;
    this.shown = now;
    const chosen = this.who.value;
    fill(this.who, users.map(({ uid, user, explained }) => {
      const option = element('option', { value: uid }, user);
      option.dataset.uid = explained;
      return option;
    }));
    if (users.some(({ uid }) => uid === chosen)) this.who.value = chosen;
    this.who.hidden = users.length < 2 && users[0]?.uid === '';
    for (const one of this.actions.querySelectorAll('button')) one.disabled = users.length === 0;
  }

  #troubles(server) {
    const end = server.last_end;
    const isFailure = end && !onPurpose.includes(end.verdict);
    this.verdict = isFailure ? end.verdict : '';
    this.remedy.hidden = !isFailure;
    const withheld = server.pins?.withheld ?? 0;
    return [
      server.broken && element('p', { class: 'failure' }, visible(`Left out: ${typeof server.broken === 'string' ? server.broken : JSON.stringify(server.broken)}`)),
      isFailure && element('div', { class: 'failure' }, element('p', {}, element('strong', {}, visible(end.verdict)), ' ', visible(end.cause), ' ', element('span', { class: 'faint' }, time(end.at_ms))),
        end.stderr?.length > 0 && block(end.stderr.join('\n'))),
      server.catalogue?.failed && element('p', { class: 'failure' }, visible(`Its lists could not be had: ${server.catalogue.failed}`)),
      withheld > 0 && element('p', { class: 'weakening' }, `${counted(withheld, 'definition')} withheld: `, element('a', { href: '#decisions' }, 'decide about them')),
    ];
  }

  #facts(server, news) {
    const cells = server.cells ?? [];
    const secrets = server.declared?.secrets?.map(({ name, problem }) => (problem ? `${name} (missing: ${problem})` : name)).join(', ');
    return facts([
      ['Command', server.command], ['Network', server.network],
      ['Cells', cells.length === 0 ? 'none runs' : cells.map(({ cell, state, sessions, uptime_ms: up }) => `${cell} (${state}, ${counted(sessions?.length ?? 0, 'session')}, ${Math.round(up / 1000)} s)`).join(', ')],
      ['Weakened', server.weakenings?.length > 0 ? element('span', { class: 'weak' }, visible(server.weakenings.join(', '))) : undefined],
      ['Users', news.status.users?.map ? usersOf(news, this.name).map(({ user }) => user).join(', ') : undefined],
      ['Secrets', secrets], ['Refused', server.denied_total ? counted(server.denied_total, 'time') : undefined],
    ]);
  }

  // Rates are of the time between two answers.
  #plot(server, at) {
    const cells = server.cells ?? [];
    const counted = { at, memory: sum(cells, 'memory_bytes'), calls: sum(cells, 'calls'), cpu: sum(cells, 'cpu_ms') };
    const before = this.samples.at(-1)?.counted ?? counted;
    const seconds = Math.max((at - before.at) / 1000, 0.001);
    const rate = (name) => Math.max(counted[name] - before[name], 0) / seconds;
    this.samples.push({ counted, calls: rate('calls'), cpu: rate('cpu') / 10, memory: counted.memory });
    if (this.samples.length > samplesKept) this.samples.shift();
    this.plots.hidden = cells.length === 0 || this.samples.length < 2;
    if (this.plots.hidden) return;
    const of = (name) => this.samples.map((sample) => sample[name]);
    const last = this.samples.at(-1);
    fill(this.plots, plot('Calls', of('calls'), `${counted.calls}, ${last.calls.toFixed(1)} a second`),
      cells.some(({ cpu_ms: used }) => used !== undefined) && plot('Processor', of('cpu'), `${last.cpu.toFixed(1)} %`),
      cells.some(({ memory_bytes: used }) => used !== undefined) && plot('Memory', of('memory'), bytes(last.memory)));
  }
}

function showInstallation(news) {
  const { status } = news;
  fill(byId('installation'),
    news.switch?.off && element('p', { class: 'failure' }, visible(`Everything is switched off${news.switch.reason ? `: ${news.switch.reason}` : ''}`)),
    status.audit?.written === false && element('p', { class: 'failure' }, 'The audit log cannot be written: new calls are refused.'),
    status.weakenings?.length > 0 && element('div', { class: 'weakening' }, element('strong', {}, 'The installation is weaker than the defaults'), list(status.weakenings)),
    status.kernel_lacks?.length > 0 && element('div', { class: 'weakening' }, element('strong', {}, 'This kernel lacks'), list(status.kernel_lacks)));
}

// What is not known is offered both ways.
function switchButtons(off) {
  const ask = (word, what) => () => {
    const row = askFor(what, word === 'disable' ? 'Switch off' : 'Switch on', (reason) => act('/api/switch', { word, reason }, word === 'disable' ? 'Everything is switched off.' : 'It is switched on.'), 'Reason');
    byId('installation').after(row);
    row.querySelector('input').focus();
  };
  return [button('Reload', doing(() => act('/api/reload', {}, 'The configuration was read anew.'))),
          off !== false && button('Switch on', ask('enable', 'Take the switch back?')),
          off !== true && button('Switch everything off', ask('disable', 'Refuse everything and stop all cells, for all users?'), 'danger')];
}

export function showServices(news) {
  const actions = byId('installation-actions');
  const off = news.switch?.off;
  if (news.decides === 'none') fill(actions);
  else if (actions.childElementCount === 0 || actions.dataset.off !== `${off}`) fill(actions, switchButtons(off));
  actions.dataset.off = `${off}`;
  if (!news.status) return;
  showInstallation(news);
  const servers = news.status.servers ?? [];
  for (const server of servers) {
    if (!cards.has(server.name)) cards.set(server.name, new Card(server.name));
    cards.get(server.name).show(server, news);
  }
  const wanted = servers.map(({ name }) => cards.get(name).element);
  const there = byId('service-cards');
  if (wanted.length !== there.childElementCount || wanted.some((one, at) => there.children[at] !== one)) fill(there, wanted);
  if (servers.length === 0) fill(there, element('p', {}, 'There is no server that you may use. ', element('a', { href: '#learn' }, 'Add one')));
}
