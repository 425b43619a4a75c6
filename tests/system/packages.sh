#!/bin/bash
# Packages a build, and the same once more as a later version: packages.sh BUILD_DIR OUT makes OUT/packages and OUT/later.
set -euo pipefail
build=$1 out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out/packages" "$out/later"
(cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
for package in "$work"/made/*.deb; do
  cp "$package" "$out/packages/"
  rm -rf "$work/tree"
  dpkg-deb -R "$package" "$work/tree"
  sed -i -E 's/^(Version: .*)$/\1+later/; s/\(= ([^)]*)\)/(= \1+later)/' "$work/tree/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$work/tree" "$out/later/$(basename "$package")" >/dev/null
done
