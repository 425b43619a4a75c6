#!/usr/bin/env bash
# Installs the Debian packages that are missing: tests/install_packages.sh build|demo|tests
# Needs root or sudo only when something is missing. Debian 12 or newer.
set -euo pipefail

build=(ccache cmake g++ libarchive-dev libboost1.81-dev libc-ares-dev libcli11-dev libedit-dev libfmt-dev libncurses-dev libre2-dev libseccomp-dev
       libsimdjson-dev libspdlog-dev libssl-dev libtomlplusplus-dev make ninja-build nlohmann-json3-dev
       pkg-config prometheus-cpp-dev)
# uidmap: servers get ids of their own also when cellblock runs without root.
demo=("${build[@]}" uidmap)
tests=("${demo[@]}" abigail-tools clang-19 clang-format-19 clang-tidy-19 curl git iproute2 libcap-dev libclang-rt-19-dev lld-19
       dpkg-dev file libgmock-dev libgtest-dev mmdebstrap openssl procps python3 python3-pip skopeo socat umoci)

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  demo) wanted=("${demo[@]}") ;;
  tests) wanted=("${tests[@]}") ;;
  *) echo "usage: $0 build|demo|tests" >&2; exit 2 ;;
esac

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

missing=()
for package in "${wanted[@]}"; do installed "$package" || missing+=("$package"); done
# Node may be there without Debian's package.
if [ "$1" != build ]; then
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
fi

if [ ${#missing[@]} -eq 0 ]; then
  echo "every package is there"
  exit 0
fi
echo "installing: ${missing[*]}"
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
