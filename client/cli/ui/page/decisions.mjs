// Calls that wait for an approval, and definitions that are withheld.

import { block, button, byId, doing, element, escapedJson, facts, fill, ruleText, say, visible, visibleText } from './parts.mjs';
import { change, read } from './server.mjs';

const calls = new Map(); // by id: what is shown of it
const decidesText = { all: '', others: 'About your own calls another administrator decides.', none: 'Only root and the users of daemon.admins decide about calls; you see what is withheld from you.' };
let withheldNow = '';

// ---- clicks that meet what they are meant for ----

// Whoever makes calls decides when one of them comes or goes, and so what is below the pointer of a person who is
// about to click. After each change nothing can be decided for as long as a person needs to see it.
const settling = 1000;
let settled; // a timer

function decisions() { return [...document.querySelectorAll('#calls button, #withheld button')]; }

function hold() {
  clearTimeout(settled);
  for (const one of decisions()) one.disabled = true;
  settled = setTimeout(() => decisions().forEach((one) => { one.disabled = false; }), settling);
}

// ---- calls ----

class Call {
  constructor(call) {
    this.id = call.id;
    this.uid = `${call.uid}`;
    this.user = call.user;
    this.left = element('span', { class: 'state weak' });
    this.body = element('div', {}, element('p', { class: 'faint' }, 'Loading …'));
    this.buttons = element('div', { class: 'actions' });
    this.element = element('article', { class: 'card', 'aria-label': `Call ${call.id}` },
      element('div', { class: 'head' }, element('h3', {}, visible(`${call.server}: ${call.name}`)), this.left, element('span', { class: 'faint' }, call.id), this.buttons), this.body);
    this.update(call);
    this.#load();
  }

  update(call) {
    this.until = performance.now() + call.left_ms;
    this.tick();
  }

  tick() { this.left.textContent = `${Math.max(Math.ceil((this.until - performance.now()) / 1000), 0)} s left`; }

  // The file and line of the rule, where the configuration can be read here.
  async #placeRule(shown, { method, name, server, rule }) {
    if (method !== 'tools/call') return;
    const { json } = await read('/api/explain', { server, uid: this.uid, tool: name }).catch(() => ({}));
    const known = [json?.rule, ...(json?.rules ?? [])].find((one) => one?.name === `server.${server}.${rule}`);
    if (known) fill(shown, visible(ruleText(known)));
  }

  // All that the server will get; only what was shown whole can be allowed.
  async #load() {
    const { json, why } = await read('/api/call', { id: this.id }).catch((failure) => ({ why: failure.message }));
    if (!json || json.error) {
      fill(this.body, element('p', { class: 'failure' }, visible(why)));
      return hold();
    }
    const rule = element('span', {}, visible(json.rule));
    this.#placeRule(rule, json);
    fill(this.body, facts([['Call', json.method], ['User', this.user], ['Rule that asks', rule], ['Session', `${json.session}, cell ${json.cell}`],
      ['Asked for', json.times > 1 ? `${json.times} times` : undefined], ['Digest', element('code', {}, json.digest)]]),
    element('h4', {}, 'What the server will get'), block(escapedJson(json.params), { class: 'params' }),
    element('p', { class: 'faint' }, 'Whatever is not plain ASCII is written as \\u and its number.'));
    const decide = (word) => doing(async () => {
      const done = await change('/api/decide', { id: this.id, word, digest: json.digest });
      say(done.ok ? `${word === 'allow' ? 'Allowed once' : 'Denied'}: ${json.name} of ${json.server}.` : `It was not decided: ${done.why}`);
    });
    fill(this.buttons, button('Allow once', decide('allow'), 'allow', visibleText(`Allow ${json.name} once`)), button('Deny', decide('deny'), 'deny', visibleText(`Deny ${json.name}`)));
    hold();
  }
}

setInterval(() => calls.forEach((call) => call.tick()), 1000);

function notifyOf(call) {
  if (!document.hidden || globalThis.Notification?.permission !== 'granted') return;
  const told = new Notification('A call waits for your decision', { body: visibleText(`${call.server}: ${call.name}`), tag: call.id });
  told.addEventListener('click', () => {
    window.focus();
    location.hash = '#decisions';
    told.close();
  });
}

function showCalls(waiting) {
  const gone = new Set(calls.keys());
  for (const call of waiting) {
    gone.delete(call.id);
    if (calls.has(call.id)) calls.get(call.id).update(call);
    else {
      calls.set(call.id, new Call(call));
      notifyOf(call);
    }
  }
  for (const id of gone) {
    calls.get(id).element.remove();
    calls.delete(id);
  }
  if (gone.size > 0) hold();
  const there = byId('calls');
  for (const { element: card } of calls.values()) {
    if (card.isConnected) continue;
    there.append(card);
    hold();
  }
  there.querySelector('.none')?.remove();
  if (calls.size === 0) there.append(element('p', { class: 'none faint' }, 'No call waits.'));
}

// ---- definitions ----

const lines = (definition) => (definition === undefined ? [] : escapedJson(typeof definition === 'string' ? definition : JSON.stringify(definition)).split('\n'));

function side(title, own, other, kind) {
  const others = new Set(other);
  return element('div', {}, element('h4', {}, title), own.length === 0 ? element('p', { class: 'faint' }, 'Nothing.')
    : element('pre', { tabIndex: 0, 'aria-label': title }, own.map((line) => element('div', { class: others.has(line) ? '' : kind }, line))));
}

function withheldCard(server, uid, user, one) {
  const was = lines(one.was);
  const is = lines(one.is);
  const accept = button('Accept', doing(async () => {
    const { ok, why } = await change('/api/accept', { server, name: one.name, digest: one.digest, uid });
    say(ok ? `Accepted: ${one.name} of ${server}.` : `It was not accepted: ${why}`);
    withheldNow = '';
  }), 'allow', visibleText(`Accept ${one.name}`));
  return element('article', { class: 'card', 'aria-label': visibleText(`${server}/${one.name}`) },
    element('div', { class: 'head' }, element('h3', {}, visible(`${server}: ${one.kind} ${one.name}`)), user && element('span', { class: 'faint' }, `for ${user}`), element('div', { class: 'actions' }, one.digest && accept)),
    element('p', {}, visible(one.text)),
    element('div', { class: 'beside' }, side('What was accepted', was, is, 'removed'), side('What is shown now', is, was, 'added')));
}

function withheldIn(news) {
  const of = (servers, uid, user) => (servers ?? []).filter(({ pins }) => pins?.withheld > 0).map(({ name, pins }) => ({ name, uid, user, count: pins.withheld }));
  if (!news.status) return undefined;
  if (!news.status.users?.map) return of(news.status.servers, '', '');
  return news.status.users.flatMap(({ uid, user, status }) => of(status.servers, `${uid}`, user));
}

// Asked for again only where the counts are others.
async function showWithheld(news) {
  const found = withheldIn(news);
  const now = JSON.stringify(found);
  if (!found || now === withheldNow) return;
  withheldNow = now;
  const cards = [];
  for (const { name, uid, user } of found) {
    const { json } = await read('/api/definitions', { server: name, uid });
    const definitions = json?.servers?.[0]?.definitions ?? [];
    cards.push(...definitions.filter(({ state }) => state === 'withheld').map((one) => withheldCard(name, uid, user, one)));
  }
  fill(byId('withheld'), cards.length > 0 ? cards : element('p', { class: 'faint' }, 'Nothing is withheld.'));
  hold();
}

export function showDecisions(news) {
  const waiting = news.approvals ?? [];
  byId('decides').textContent = decidesText[news.decides] ?? '';
  const badge = byId('waiting');
  badge.hidden = waiting.length === 0;
  badge.textContent = `${waiting.length}`;
  badge.setAttribute('aria-label', `${waiting.length} wait`);
  document.title = waiting.length > 0 ? `(${waiting.length}) cellblock` : 'cellblock';
  showCalls(waiting);
  showWithheld(news).catch((failure) => say(failure.message));
}

export function offerNotifications() {
  const offer = byId('notify');
  offer.hidden = globalThis.Notification?.permission !== 'default';
  offer.addEventListener('click', async () => {
    offer.hidden = (await Notification.requestPermission()) !== 'default';
  });
}
