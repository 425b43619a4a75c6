// What a registry of npm says of the packages of a lock file: signatures, versions, who maintains them. npm_installer.mjs
// follows in the same file. It asks as npm itself does, with npm's own library.

import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';

// The worst first: what refuses an installation is never among those left out.
const kinds = ['wrong_signature', 'altered', 'withdrawn', 'unsigned', 'deprecated'];
const mostPackages = 5000;
const mostFindings = 200;
const mostMaintainers = 200;
const mostDocument = 64 * 1024 * 1024;
const mostText = 300;
const atOnce = 8;
// The words of npm's own requests: what it has just fetched is in its cache under them.
const short = { headers: { accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*' } };
const whole = { headers: { accept: 'application/json' }, cache: null };

// Where a registry does not say when something was published, as npm has it: whoever could use an expired key says any time.
const early = '2015-01-01T00:00:00Z';

const cut = (text) => String(text).slice(0, mostText);

function credentialLines() {
  const file = process.env.npm_config_userconfig;
  const lines = file.startsWith('/run/secrets/') ? readFileSync(file, 'utf8').split('\n') : [];
  return Object.fromEntries(lines.filter((line) => line.includes('=')).map((line) => {
    const equals = line.indexOf('=');
    return [line.slice(0, equals), line.slice(equals + 1)];
  }));
}

function options() {
  const { npm_config_registry: registry, npm_config_cafile: cafile, npm_config_proxy: proxy, npm_config_noproxy: noProxy } = process.env;
  return {
    ...credentialLines(), registry, proxy, noProxy, ca: cafile ? readFileSync(cafile, 'utf8') : null, timeout: 60_000,
    cache: `${homedir()}/.npm/_cacache`, preferOffline: true, retry: { retries: 2, minTimeout: 500, maxTimeout: 5000 },
  };
}

class Registry {
  constructor() {
    this.fetch = createRequire(process.env.CELL_NPM)('npm-registry-fetch');
    this.options = options();
    this.keys = new Map(); // of each registry
  }

  async json(place, more) {
    const { body } = await this.fetch(place, { ...this.options, ...more });
    const parts = [];
    let size = 0;
    for await (const part of body) {
      size += part.length;
      if (size > mostDocument) throw new Error(`${place}: the registry's answer is longer than 64 MiB`);
      parts.push(part);
    }
    return JSON.parse(Buffer.concat(parts).toString());
  }

  // None: the registry has no such package.
  async document(name, form) {
    try {
      return await this.json(`/${name.replace('/', '%2f')}`, { spec: name, ...form });
    } catch (error) {
      if (error.statusCode === 404) return null;
      throw error;
    }
  }

  // None: the registry signs nothing. One that knows no such address may refuse it in several ways.
  async fetchKeys(registry) {
    try {
      return (await this.json('/-/npm/v1/keys', { registry })).keys;
    } catch (error) {
      if (error.statusCode >= 400 && error.statusCode < 500) return [];
      throw error;
    }
  }

  keysFor(name) {
    const scope = name.startsWith('@') ? this.options[`${name.split('/')[0]}:registry`] : undefined;
    const registry = scope ?? this.options.registry;
    if (!this.keys.has(registry)) this.keys.set(registry, this.fetchKeys(registry));
    return this.keys.get(registry);
  }
}

const pem = (key) => createPublicKey(`-----BEGIN PUBLIC KEY-----\n${key}\n-----END PUBLIC KEY-----`);

// Why it does not count; empty: it does. A key that has expired counts for what was published before.
async function mistake({ keyid, sig }, keys, message, published) {
  const key = keys.find((one) => one.keyid === keyid);
  if (!key) return `it is signed by a key that the registry does not name: ${keyid}`;
  if (key.expires && !(await published() < Date.parse(key.expires))) return `the key ${keyid} expired before it was published`;
  try {
    return verify('sha256', Buffer.from(message), pem(key.key), Buffer.from(sig, 'base64')) ? '' : `its signature does not fit the key ${keyid}`;
  } catch {
    return `its signature cannot be checked with the key ${keyid}`;
  }
}

async function signatureMistake(registry, { name, version }, dist, integrity, keys) {
  const published = async () => Date.parse((await registry.document(name, whole))?.time?.[version] ?? early);
  for (const signature of dist.signatures) {
    const wrong = await mistake(signature, keys, `${name}@${version}:${integrity}`, published);
    if (wrong) return wrong;
  }
  return '';
}

// Adds what is to be said of one package, or counts it.
async function lookAt(registry, one, report, add) {
  const { dist, deprecated } = (await registry.document(one.name, short))?.versions?.[one.version] ?? {};
  if (!dist) return add('withdrawn', one, 'the registry has this version no more');
  if (deprecated) add('deprecated', one, deprecated);
  if (dist.attestations) ++report.attested;
  if (dist.integrity && !one.integrity.split(' ').includes(dist.integrity)) {
    return add('altered', one, 'the registry has another archive under this version now');
  }
  const keys = await registry.keysFor(one.name);
  if (keys.length === 0) return undefined;
  report.has_keys = true;
  if (!dist.signatures?.length) return add('unsigned', one, '');
  const wrong = await signatureMistake(registry, one, dist, dist.integrity ?? one.integrity, keys);
  if (wrong) return add('wrong_signature', one, wrong);
  ++report.signed;
  return undefined;
}

const isFor = (list, own) => !list || list.includes(own) || (list.every((one) => one.startsWith('!')) && !list.includes(`!${own}`));

// The packages that are installed here; a link or a package in a package's own archive comes from no registry.
function lockedPackages(lock) {
  const found = new Map();
  for (const [place, { name, version, integrity, link, inBundle, os, cpu }] of Object.entries(lock.packages)) {
    if (place === '' || link || inBundle || !integrity || !isFor(os, process.platform) || !isFor(cpu, process.arch)) continue;
    const one = { name: name ?? place.split('node_modules/').pop(), version, integrity };
    found.set(`${one.name}@${version}`, one);
  }
  return [...found.values()].sort((some, other) => (some.name < other.name ? -1 : 1));
}

function addPublishers(report, document, { version }) {
  const newest = document?.['dist-tags']?.latest;
  const publisher = (one) => cut(document?.versions?.[one]?._npmUser?.name ?? '');
  report.newest = cut(newest ?? '');
  report.maintainers = (document?.maintainers ?? []).slice(0, mostMaintainers).map(({ name }) => cut(name)).sort();
  report.publisher = publisher(version);
  report.newest_publisher = publisher(newest);
}

// `wanted`: the package that was asked for, as npm takes it.
export async function registryReport(lockText, wanted) {
  const packages = lockedPackages(JSON.parse(lockText));
  if (packages.length > mostPackages) throw new Error(`more than ${mostPackages} packages`);
  const registry = new Registry();
  const report = { packages: packages.length, signed: 0, attested: 0, has_keys: false };
  const found = [];
  const add = (kind, { name, version }, detail) => found.push({ kind, package: cut(name), version: cut(version), detail: cut(detail) });
  const waiting = [...packages];
  const work = async () => {
    while (waiting.length > 0) await lookAt(registry, waiting.shift(), report, add);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const own = packages.find(({ name }) => wanted === name || wanted.startsWith(`${name}@`));
  if (own) addPublishers(report, await registry.document(own.name, whole), own);
  const rank = (one) => `${kinds.indexOf(one.kind)} ${one.package} ${one.version}`;
  found.sort((some, other) => (rank(some) < rank(other) ? -1 : 1));
  report.findings = found.slice(0, mostFindings);
  report.left_out = found.length - report.findings.length;
  return report;
}
