#!/bin/bash
# Runs the tests that need a whole machine: a kernel of its own, all cgroup v2 controllers, root.
#   guest.sh DIRECTORY [GTEST-FILTER]
# DIRECTORY holds the test programs, their probes in bin/, and in lib/ the shared libraries that this
# machine does not have. Exit status 0: nothing failed. See README.md.
set -u
directory=$(cd "${1:?usage: guest.sh DIRECTORY [GTEST-FILTER]}" && pwd)
filter=${2:-*}
tests=(cgroup_test containment_test landlock_test step_fault_test)

fail() { echo "guest.sh: $*" >&2; exit 2; }
[ "$(id -u)" = 0 ] || fail "must be root"
group=/sys/fs/cgroup
[ -e "$group/cgroup.controllers" ] || fail "$group is not a unified cgroup v2 hierarchy"
# A service manager passes on only what its units use.
for controller in memory pids cpu io; do
  echo "+$controller" >"$group/cgroup.subtree_control" || echo "no controller $controller here"
done

echo "kernel $(uname -r), security modules $(cat /sys/kernel/security/lsm 2>/dev/null)"
echo "controllers for cells: $(cat "$group/cgroup.subtree_control")"
export CELLBLOCK_TEST_BIN=$directory/bin
libraries=$directory/lib
failed=0
for test in "${tests[@]}"; do
  [ -x "$directory/$test" ] || continue
  echo "--- $test"
  # Only the test itself: what runs in a cell has an environment of its own.
  LD_LIBRARY_PATH=$libraries "$directory/$test" --gtest_brief=1 --gtest_filter="$filter" </dev/null
  status=$?
  [ $status = 0 ] || failed=1
  echo "--- $test: exit status $status"
done
left=$(find "$group" -maxdepth 1 -name 'cellblock-test-*')
[ -z "$left" ] || { echo "groups were left behind: $left"; failed=1; }
exit $failed
