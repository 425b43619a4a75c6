#!/bin/sh
# Installs everything to an empty prefix, as a user of the package would; builds the example against
# the library, once by find_package and once by pkg-config; checks configurations with the installed
# daemon.
# install_test.sh BUILD_DIR SOURCE_DIR CXX
set -eu
build=$1 source=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

for component in client client-dev command daemon; do
  cmake --install "$build" --prefix "$prefix" --component "$component" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
done
"$prefix/bin/cellblock" version

mkdir "$work/app"
cat >"$work/app/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
find_package(cellblock 0.1 REQUIRED COMPONENTS client)
add_executable(minimal_host "$source/examples/minimal_host.cc")
target_link_libraries(minimal_host PRIVATE cellblock::client)
if(TARGET cellblock::client-static)
  add_executable(static_host "$source/examples/minimal_host.cc")
  target_link_libraries(static_host PRIVATE cellblock::client-static)
endif()
CMAKE
# configured OPTION...: whoever wants no Asio needs no Boost.
configured() {
  cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" "$@" >"$work/log" 2>&1
}
configured -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON || { cat "$work/log"; exit 1; }
cmake --build "$work/app/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "built with find_package, without Boost"

echo 'find_package(cellblock 0.1 REQUIRED COMPONENTS session)
if(NOT TARGET cellblock::session)
  message(FATAL_ERROR "no cellblock::session")
endif()' >>"$work/app/CMakeLists.txt"
configured -DCMAKE_DISABLE_FIND_PACKAGE_Boost=OFF || { cat "$work/log"; exit 1; }
if configured -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON; then
  echo "the component session was found without Boost"
  exit 1
fi
grep -q "needs the headers of Boost" "$work/log" || { cat "$work/log"; exit 1; }
echo "only the component session needs Boost"

pc=$(dirname "$(find "$prefix" -name cellblock-client.pc)")
# The prefix was chosen after configuring, so it is told to pkg-config as well.
flags=$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$prefix" --cflags --libs cellblock-client)
# shellcheck disable=SC2086 # flags are words
"$cxx" -std=c++20 "$source/examples/minimal_host.cc" $flags -o "$work/minimal_host"
echo "built with pkg-config"

cc=${CC:-cc}
# shellcheck disable=SC2086
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/minimal_host.c" $flags -o "$work/minimal_host_c"
# shellcheck disable=SC2086
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/poll_host.c" $flags -o "$work/poll_host"
# shellcheck disable=SC2086
"$cxx" -std=c++23 -fsyntax-only -I"$source/examples/agent_host" $flags "$source/examples/agent_host/agent.cc"
# shellcheck disable=SC2086
"$cxx" -std=c++20 -fsyntax-only $flags "$source/examples/coroutine_host.cc"
echo "a host in C, the one with an agent and the one in coroutines are built with it too"

# Each header stands alone, as whoever includes no other has it; that of C also in C.
for header in "$prefix"/include/cellblock/*.h; do
  # shellcheck disable=SC2086
  echo "#include <cellblock/$(basename "$header")>" |
    "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $flags -x c++ - || { echo "$header"; exit 1; }
done
# shellcheck disable=SC2086
echo '#include <cellblock/cellblock_async.h>' |
  "$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $flags -x c -
echo "each header stands alone"

# The library shows the functions that the C headers declare, and no others of that name.
library=$(dirname "$pc")
if command -v nm >/dev/null; then
  nm -D --defined-only "$library/libcellblock-client.so" | sed 's/.* //' | grep '^cellblock_' | sort >"$work/shown"
  cat "$prefix/include/cellblock/cellblock.h" "$prefix/include/cellblock/cellblock_async.h" | tr '\n' ' ' | grep -o 'CELLBLOCK_CLIENT_API [^;(]*(' |
    grep -o 'cellblock_[a-z_]*($' | tr -d '(' | sort >"$work/declared"
  diff "$work/declared" "$work/shown"
  [ "$(wc -l <"$work/shown")" -gt 40 ]
  echo "the library shows what the C headers declare"
fi

hosts="$work/app/build/minimal_host $work/minimal_host $work/minimal_host_c"
# A host that has the whole library in itself.
if [ -e "$library/libcellblock-client.a" ]; then
  static=$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$prefix" --static --cflags --libs cellblock-client |
    sed 's/-lcellblock-client/-l:libcellblock-client.a/')
  # shellcheck disable=SC2086
  "$cc" -std=c99 "$source/examples/minimal_host.c" $static -o "$work/static_host_c"
  hosts="$hosts $work/app/build/static_host $work/static_host_c"
  if ldd "$work/static_host_c" "$work/app/build/static_host" | grep cellblock; then
    echo "a host that is linked statically needs the shared library"
    exit 1
  fi
  echo "linked statically"
fi

# All run, and say that there is no daemon here.
for host in $hosts; do
  if LD_LIBRARY_PATH=$library CELLBLOCK_SOCKET=$work/none.sock "$host" files 2>"$work/said"; then
    echo "$host reached a daemon that is not there"
    exit 1
  fi
  grep -q "minimal_host: socket $work/none.sock: No such file" "$work/said" ||
    { cat "$work/said"; exit 1; }
done
echo "all run"

# What a service needs is there, and the unit names the daemon where it is installed by default.
for file in sbin/cellblockd libexec/cellblock/cellblock-supervisor libexec/cellblock/cellblock-launcher libexec/cellblock/cellblock-gateway \
            libexec/cellblock/cellblock-tools libexec/cellblock/cellblock-audit libexec/cellblock/cellblock-probe lib/systemd/system/cellblock.service \
            lib/systemd/system/cellblock.socket lib/systemd/user/cellblock.service lib/systemd/user/cellblock.socket \
            lib/tmpfiles.d/cellblock.conf \
            lib/sysusers.d/cellblock.conf share/doc/cellblock/examples/cellblock.toml \
            share/doc/cellblock/configuration.md share/doc/cellblock/configuration/server.md share/doc/cellblock/security.md \
            share/doc/cellblock/LICENSE share/man/man1/cellblock.1 share/man/man5/cellblock.toml.5 \
            share/man/man8/cellblockd.8 share/bash-completion/completions/cellblock \
            share/zsh/vendor-completions/_cellblock share/fish/vendor_completions.d/cellblock.fish; do
  [ -s "$prefix/$file" ] || { echo "not installed: $file"; find "$prefix" -type f; exit 1; }
done
grep -q '^ExecStart=/.*/sbin/cellblockd$' "$prefix/lib/systemd/system/cellblock.service"
echo "the service is whole"

server='[server.cat]
command = ["/usr/bin/cat"]
allow = { users = ['$(id -u)'], tools = ["*"] }'
mkdir "$work/config"
chmod 0755 "$work/config"
printf '%s\n' "$server" >"$work/config/good.toml"
printf '%s\nlimits = { memroy = "1GiB" }\n' "$server" >"$work/config/bad.toml"
chmod 0644 "$work/config"/*.toml

# judged COMMAND...: what it says of both files; --user, since no account has been made.
judged() {
  "$@" "$work/config/good.toml" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
  if "$@" "$work/config/bad.toml" >"$work/said" 2>&1; then
    echo "$* passes a file with an error"
    exit 1
  fi
  grep -q 'server.cat.limits.memroy: unknown key; did you mean "memory"?' "$work/said" ||
    { cat "$work/said"; exit 1; }
}
export XDG_RUNTIME_DIR="$work"
judged "$prefix/sbin/cellblockd" --user --check
judged "$prefix/bin/cellblock" --user check
echo "the daemon and the command judge a configuration"
