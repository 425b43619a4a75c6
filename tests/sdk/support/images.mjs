// Images made by a test: OCI layouts on disk, with the layers that `tar` makes of directories.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';

const types = 'application/vnd.oci.image';
const server = path.join(process.env.CELLBLOCK_TEST_BIN ?? '', 'static_recording_server');
const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];

export const missingTools = ['skopeo', 'umoci', 'python3'].filter((tool) => !fs.existsSync(`/usr/bin/${tool}`));

export class Layout {
  constructor(directory) {
    this.directory = directory;
    this.manifests = new Map();
    fs.mkdirSync(path.join(directory, 'blobs/sha256'), { recursive: true });
    fs.writeFileSync(path.join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  }

  blob(bytes, mediaType) {
    const digest = createHash('sha256').update(bytes).digest('hex');
    fs.writeFileSync(path.join(this.directory, 'blobs/sha256', digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  }

  // `fill` puts what the layer holds into a directory; `options` are tar's.
  layer(fill, options = []) {
    const directory = fs.mkdtempSync(path.join(this.directory, 'layer-'));
    fill(directory);
    const bytes = execFileSync('tar', ['--create', '--numeric-owner', ...options, '-C', directory, '.'], { maxBuffer: 1 << 28 });
    fs.rmSync(directory, { recursive: true });
    return this.blob(bytes, `${types}.layer.v1.tar`);
  }

  // Under that tag, in the place of what was there.
  publish(tag, config, layers) {
    const rootfs = { type: 'layers', diff_ids: layers.map(({ digest }) => digest) };
    const described = this.blob(JSON.stringify({ architecture, os: 'linux', config, rootfs }), `${types}.config.v1+json`);
    const manifest = { schemaVersion: 2, mediaType: `${types}.manifest.v1+json`, config: described, layers };
    const annotations = { 'org.opencontainers.image.ref.name': tag };
    this.manifests.set(tag, { ...this.blob(JSON.stringify(manifest), manifest.mediaType), annotations });
    fs.writeFileSync(path.join(this.directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [...this.manifests.values()] }));
  }

  reference(tag) {
    return `oci:${this.directory}:${tag}`;
  }
}

// The server, statically linked, and nothing else.
export function putServer(directory) {
  fs.mkdirSync(path.join(directory, 'bin'));
  fs.copyFileSync(server, path.join(directory, 'bin/server'));
  fs.chmodSync(path.join(directory, 'bin/server'), 0o755);
}

export function putFile(directory, name, text, mode = 0o644) {
  const file = path.join(directory, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  fs.chmodSync(file, mode);
}
