#!/usr/bin/env bash
# Builds with the release preset and measures. Root only: it changes identities.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release -DCELLBLOCK_TESTS=ON >/dev/null
cmake --build --preset release --target cellblock-bench cellblockd cellblock-supervisor cellblock-launcher \
  cellblock-gateway cellblock-audit cellblock-egress cellblock-probe cellblock echo_server >&2
exec build/release/bin/cellblock-bench
