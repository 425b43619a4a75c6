// Elements out of values. Text becomes text and nothing else: no data is ever read as markup.

export const byId = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'class') made.className = value;
    else if (name in made && name !== 'list') made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

export const fill = (parent, ...children) => parent.replaceChildren(...children.flat(Infinity).filter(Boolean));

// Keeps what is there where nothing has changed: a click that has begun on it, and the focus, would be lost.
export function refill(parent, ...children) {
  const made = document.createElement(parent.tagName);
  fill(made, ...children);
  if (made.innerHTML !== parent.innerHTML) parent.replaceChildren(...made.childNodes);
}

// Controls, what reorders text, and what is not seen; a line break too where text is one line.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;
const isHidden = (letter, isBlock) => hidden.test(letter) && !(isBlock && letter === '\n');
const code = (letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

// Text that others wrote: what is not seen stands there, marked, as its number.
export function visible(text, isBlock = false) {
  const parts = [];
  let plain = '';
  for (const letter of String(text ?? '')) {
    if (!isHidden(letter, isBlock)) {
      plain += letter;
      continue;
    }
    parts.push(plain, element('mark', { title: 'a character that is not seen' }, code(letter)));
    plain = '';
  }
  return element('bdi', {}, ...parts, plain);
}

// The same where there are no elements: in notifications, and in what is read aloud.
export const visibleText = (text) => Array.from(String(text ?? ''), (letter) => (isHidden(letter) ? code(letter) : letter)).join('');

export const block = (text, more = {}) => element('pre', { tabIndex: 0, ...more }, visible(text, true));

// JSON as it was written, in lines, nothing of it reordered or left out; whatever is not ASCII is an escape.
export function escapedJson(text) {
  const ascii = Array.from(String(text), (letter) => (letter <= '~' ? letter : Array.from({ length: letter.length }, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''))).join('');
  let out = '';
  let depth = 0;
  let isText = false;
  const line = () => `\n${'  '.repeat(Math.min(depth, 32))}`;
  for (let at = 0; at < ascii.length; at += 1) {
    const letter = ascii[at];
    if (isText) {
      out += letter;
      if (letter === '\\') out += ascii[++at] ?? '';
      else if (letter === '"') isText = false;
    } else if (letter === '"') {
      isText = true;
      out += letter;
    } else if (letter === '{' || letter === '[') {
      depth += 1;
      out += letter + line();
    } else if (letter === '}' || letter === ']') {
      depth -= 1;
      out += line() + letter;
    } else if (letter === ',') {
      out += letter + line();
    } else if (letter === ':') {
      out += ': ';
    } else if (!/\s/.test(letter)) {
      out += letter;
    }
  }
  return out;
}

export const facts = (pairs) => element('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== undefined && value !== '' && value !== null)
  .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value instanceof Node ? value : visible(value))]));

export const list = (sentences) => element('ul', { class: 'plain' }, sentences.map((one) => element('li', {}, visible(one))));

export const button = (text, onclick, kind = '', label = undefined) => element('button', { type: 'button', class: kind, onclick, 'aria-label': label }, text);

// All times of the page are UTC, as those of the audit log are: "2026-11-22 13:05:00".
export const utc = (text) => String(text ?? '').replace('T', ' ').replace(/(\.\d+)?Z$/, '');
export const time = (ms) => (ms ? utc(new Date(ms).toISOString()) : '');

// "server.files.rule[1] (/etc/cellblock/servers.d/files.toml line 12)", as `cellblock explain` names it.
export const ruleText = ({ name, file, line }) => `${name}${file ? ` (${file} line ${line})` : ''}`;

export function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let at = 0;
  let left = count;
  for (; left >= 1024 && at < units.length - 1; at += 1) left /= 1024;
  return `${left.toFixed(at === 0 ? 0 : 1)} ${units[at]}`;
}

// A small plot of samples, oldest first.
export function plot(name, samples, text) {
  const most = Math.max(...samples, 1e-9);
  const step = 160 / Math.max(samples.length - 1, 1);
  const svg = (tag, attributes) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const picture = svg('svg', { viewBox: '0 0 160 32', 'aria-hidden': 'true', preserveAspectRatio: 'none' });
  picture.append(svg('polyline', { points: samples.map((sample, at) => `${(at * step).toFixed(1)},${(30 - (28 * sample) / most).toFixed(1)}`).join(' ') }));
  return element('figure', { class: 'plot' }, picture, element('figcaption', {}, `${name}: ${text}`));
}

let saying;
export function say(text) {
  const said = byId('said');
  fill(said, visible(text));
  clearTimeout(saying);
  saying = setTimeout(() => fill(said), 8000);
}

// Does it once, says what became of it, and leaves the button alone meanwhile.
export const doing = (work) => async ({ currentTarget }) => {
  currentTarget.disabled = true;
  try {
    await work();
  } catch (failure) {
    say(failure.message);
  } finally {
    currentTarget.disabled = false;
  }
};

// A question in the place of the browser's own, which a hidden tab does not show.
export function askFor(question, agree, work, label) {
  const row = element('div', { class: 'card', role: 'alertdialog', 'aria-label': question });
  const reason = label && element('input', { type: 'text', maxLength: 200, 'aria-label': label, placeholder: label });
  const close = () => row.remove();
  row.append(element('p', {}, question), element('div', { class: 'actions' }, reason,
    button(agree, doing(async () => {
      await work(reason?.value ?? '');
      close();
    }), 'danger'), button('Cancel', close)));
  row.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
  return row;
}
