// What the page asks of `cellblock ui`. The key is this tab's: with the cookie it is the session.

const key = () => sessionStorage.getItem('cellblock') ?? '';

export class Refused extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
  }
}

async function checked(response) {
  if (response.ok) return response;
  const { refused } = await response.json().catch(() => ({}));
  throw new Refused(response.status, refused ?? `HTTP ${response.status}`);
}

function post(path, body) {
  return fetch(path, { method: 'POST', headers: { 'x-cellblock-key': key(), 'content-type': 'application/json' }, body: JSON.stringify(body) }).then(checked);
}

const get = (path, signal) => fetch(path, { headers: { 'x-cellblock-key': key() }, signal }).then(checked);

const withQuery = (path, query) => `${path}?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '' && value !== undefined))}`;

// The token leaves the address bar and the history before it is used.
export async function logIn() {
  const token = /^#login=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!token) return key() !== '';
  history.replaceState(null, '', '/#services');
  const answer = await post('/api/login', { token });
  sessionStorage.setItem('cellblock', (await answer.json()).key);
  return true;
}

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

// What a command has printed: { ok, exit, json, lines, text, why }.
function outcome({ exit, out, err }) {
  const json = parsed(out);
  const why = json?.error?.message ?? err.trim().replace(/^cellblock: /, '');
  return { ok: exit === 0, exit, json, text: out, why };
}

export const read = async (path, query = {}) => outcome(await (await get(withQuery(path, query))).json());
export const change = async (path, body = {}) => outcome(await (await post(path, body)).json());

// Each line as an object, until it ends; empty ones only show that the server is there.
export async function follow(path, query, take, signal) {
  const response = await get(withQuery(path, query), signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) take(parsed(line) ?? {});
  }
}
