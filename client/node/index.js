// cellblock for programs in Node: see index.d.ts.

export { CellblockError } from './lib/error.js';
export { defaultSocketPath } from './lib/socket_path.js';
export { CellblockTransport } from './lib/transport.js';
