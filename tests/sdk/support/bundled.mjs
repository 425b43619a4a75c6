// A package of npm as it is installed in tests/fixtures, with all that it needs in its own archive: a registry of
// one package is enough for it.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

import { fixtures } from './daemon.mjs';

const descriptionIn = (directory) => JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));

// As Node finds a module: in the node_modules of each directory above.
function installed(name, from) {
  for (let at = from; at.startsWith(fixtures); at = path.dirname(at)) {
    const candidate = path.join(at, 'node_modules', name);
    if (fs.existsSync(path.join(candidate, 'package.json'))) return candidate;
  }
  throw new Error(`${name} is not installed in tests/fixtures`);
}

function copyPackage(source, target) {
  const own = path.join(source, 'node_modules');
  fs.cpSync(source, target, { recursive: true, filter: (file) => file !== own });
}

// Into the node_modules at the top where that place is free, else below the one that needs it.
function addDependencies(source, place, top, placed) {
  for (const name of Object.keys(descriptionIn(source).dependencies ?? {})) {
    const found = installed(name, source);
    if (placed.get(name) === found) continue;
    const target = path.join(placed.has(name) ? place : top, 'node_modules', name);
    if (fs.existsSync(target)) continue;
    if (!placed.has(name)) placed.set(name, found);
    copyPackage(found, target);
    addDependencies(found, target, top, placed);
  }
}

// { description, bytes } for a registry, as another version where one is named.
export function bundled(name, named) {
  const source = path.join(fixtures, 'node_modules', name);
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cellblock-bundle.'));
  try {
    const top = path.join(directory, 'package');
    copyPackage(source, top);
    addDependencies(source, top, top, new Map());
    const { version: own, bin, type, dependencies } = descriptionIn(source);
    const version = named ?? own;
    const bundleDependencies = Object.keys(dependencies ?? {});
    const description = { name, version, bin, type, dependencies, bundleDependencies };
    fs.writeFileSync(path.join(top, 'package.json'), JSON.stringify(description));
    const { stdout } = spawnSync('tar', ['-C', directory, '-cz', 'package'], { maxBuffer: 1 << 26 });
    return { description, bytes: stdout };
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}
