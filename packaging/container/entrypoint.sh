#!/bin/sh
# A volume belongs to root at first, and cellblockd makes its files as the user cellblock.
set -e
for directory in /run/cellblock /var/lib/cellblock /var/log/cellblock; do
  install -d "$directory"
  chown cellblock:cellblock "$directory"
done
exec cellblockd "$@"
