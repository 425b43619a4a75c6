#!/usr/bin/env bash
# The attack set of cellblock-probe in a cell and in other sandboxes, on this machine:
#   tests/compare/run.sh BUILD_DIR
# Needs root. Installs bubblewrap, firejail, socat and ripgrep (Debian) and, in a directory of its own, the npm
# package @anthropic-ai/sandbox-runtime. Writes docs/comparison.md and the table in docs/security.md.
set -uo pipefail
[ "$(id -u)" -eq 0 ] || { echo "run.sh needs root" >&2; exit 2; }
build=$(realpath "${1:?usage: run.sh BUILD_DIR}")
source=$(realpath "$(dirname "$0")/../..")
user=cellblock-compare
work=$(mktemp -d /opt/cellblock-compare-XXXXXX)  # where firejail runs programs from, too
results=$work/results
pids=()

clean_up() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  id "$user" >/dev/null 2>&1 && userdel --remove "$user" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

install_peers() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    bubblewrap firejail ripgrep socat >/dev/null || echo "apt-get failed: what is missing is said below"
  local runtime=${CELLBLOCK_SRT:-$work/srt}
  [ -d "$runtime/node_modules" ] ||
    (mkdir -p "$runtime" && cd "$runtime" && npm install --silent --no-fund --no-audit @anthropic-ai/sandbox-runtime)
  srt=$runtime/node_modules/.bin/srt
}

as_user() { setpriv --reuid "$user" --regid "$user" --init-groups --reset-env env HOME="/home/$user" "${planted[@]}" "$@"; }
as_root() { env "${planted[@]}" "$@"; }

# subject NUMBER NAME WHO COMMAND...: the probe's words follow the command.
subject() {
  local number=$1 name=$2 who=$3; shift 3
  local shown="$* cellblock-probe --run --tsv"
  printf '%s\n%s\n' "$name" "${shown//$work/DIR}" >"$results/$number.txt"
  (cd /tmp && timeout 120 "$who" "$@" "$probe" --run --tsv "${words[@]}" \
    <"/dev/null" >"$results/$number.tsv" 2>"$results/$number.err")
  said "$number" "$name"
}

said() {
  local count; count=$(wc -l <"$results/$1.tsv")
  echo "$2: $count answers"
  [ "$count" -gt 0 ] || tail -2 "$results/$1.err"
}

mkdir -p "$results" "$work/bin" "$work/public"
chmod 0755 "$work" "$work/bin"; chmod 0777 "$work/public"
install_peers
id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
cp "$build"/bin/cellblock* "$work/bin/"; cp -a "$build"/bin/libcellblock-client.so* "$work/bin/"
probe=$work/bin/cellblock-probe
planted=(CELLBLOCK_PLANTED=4711 XDG_RUNTIME_DIR=/run/user/4711)

setpriv --reuid "$user" --regid "$user" --init-groups /usr/bin/python3 - "$work/public" <"$source/tests/compare/targets.py" &
pids+=($!)
for _ in $(seq 100); do [ -s "$work/public/words" ] && break; sleep 0.1; done
mapfile -t words <"$work/public/words"

# timeout(1) runs programs, not functions.
for who in as_user as_root; do
  { echo '#!/usr/bin/env bash'; declare -p planted user; declare -f "$who"; echo "$who \"\$@\""; } >"$work/bin/$who"
  chmod 0755 "$work/bin/$who"
done
PATH=$work/bin:$PATH

hardened=(bwrap --unshare-all --cap-drop ALL --clearenv --new-session --die-with-parent
          --ro-bind /usr /usr --symlink usr/lib64 /lib64 --symlink usr/lib /lib --symlink usr/bin /bin
          --proc /proc --dev /dev --tmpfs /tmp --ro-bind "$work/bin" "$work/bin")
subject 00 "outside, root" as_root unshare --mount
subject 01 "outside, user" as_user env
subject 10 "bwrap typical" as_user bwrap --unshare-pid --unshare-ipc --unshare-uts --new-session \
  --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp
subject 11 "bwrap hardened" as_user "${hardened[@]}"
subject 12 "bwrap hardened, by root" as_root "${hardened[@]}"
subject 20 "firejail" as_user firejail --quiet --noprofile
subject 21 "firejail hardened" as_user firejail --quiet --noprofile --net=none --caps.drop=all --nonewprivs --noroot \
  --seccomp --private --private-tmp --private-dev --disable-mnt --nogroups --ipc-namespace --nodbus \
  --whitelist="$work/bin"
quoted=$(printf ' %q' "$probe" --run --tsv "${words[@]}")
printf '%s\n%s\n' "srt" "srt cellblock-probe --run --tsv" >"$results/30.txt"
(cd "/home/$user" && timeout 120 as_user "$srt" -c "${quoted# }" </dev/null >"$results/30.tsv" 2>"$results/30.err")
said 30 srt

# --- our cells, through the daemon -------------------------------------------------------------------

mkdir -p "$work/log"
{
  printf '[daemon]\nuser = 64001\ngroup = 64001\nstate_directory = "%s"\naudit_log = "%s"\n' "$work/state" "$work/log/audit.log"
  printf '[socket]\npath = "%s"\nmode = "0666"\n' "$work/run/cellblock.sock"
  for profile in native node python; do
    printf '[server.%s]\ncommand = ["%s", "--mcp"]\nread = ["%s"]\nprofile = "%s"\n' "$profile" "$probe" "$work/bin" "$profile"
    printf 'limits.require = false\nallow = { users = [%s], tools = ["*"] }\n' "$(id -u "$user")"
  done
} >"$work/cellblock.toml"
env "${planted[@]}" "$work/bin/cellblockd" --config "$work/cellblock.toml" 2>"$work/daemon.log" &
pids+=($!)
for _ in $(seq 100); do grep -q ready "$work/daemon.log" && break; sleep 0.1; done
number=40
for profile in native node python; do
  printf '%s\n%s\n' "cellblock, $profile" "cellblock call $profile run (a server of that profile, network = none)" >"$results/$number.txt"
  as_user "$work/bin/cellblock" --socket "$work/run/cellblock.sock" --json call "$profile" run \
    "{\"targets\": $(cat "$work/public/words.json")}" 2>"$results/$number.err" |
    python3 -c 'import json, sys
answer = json.load(sys.stdin)
for a in answer.get("result", answer).get("structuredContent", {"attempts": []})["attempts"]:
    print("\t".join([a["id"], a["class"], a["result"], a["errno"], a["detail"], a["verdict"], a["declared_by"]]))' \
      >"$results/$number.tsv" 2>>"$results/$number.err"
  [ -s "$results/$number.tsv" ] || tail -3 "$work/daemon.log" >>"$results/$number.err"
  said "$number" "cellblock, $profile"
  number=$((number + 1))
done

version_of() { "$@" --version 2>/dev/null | head -1; }
{
  echo "Measured on $(date -u +%F) by \`tests/compare/run.sh\`, on one machine: Linux $(uname -r), $(. /etc/os-release; echo "$PRETTY_NAME"),"
  echo "$(version_of bwrap), $(version_of firejail), sandbox-runtime $(node -p "require('$(dirname "$srt")/../@anthropic-ai/sandbox-runtime/package.json').version"),"
  echo "cellblock $("$work/bin/cellblock" version 2>/dev/null | head -1 | sed 's/^cellblock //')."
  echo "Each was started by one unprivileged user, except where it says root; firejail is set-user-id root, and cells are"
  echo "made by a daemon that root started. bwrap needs user namespaces, which this machine gives to everybody. An attempt"
  echo "counts where it succeeds outside, for root or for that user; one that has nothing to aim at counts as held."
} >"$results/about.txt"
python3 "$source/tests/compare/table.py" "$results" "$source/docs"
