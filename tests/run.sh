#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Any directory, root or a user with sudo.
#
#   tests/run.sh            everything: the release programs, their cells and packages; every test but
#                           long suites of well-behaved parties with address and undefined-behaviour sanitizers, those with threads
#                           with the thread sanitizer; each header by itself, fuzz smoke, format, lint
#   tests/run.sh --quick    the release build, every test of it, and the format
#   tests/run.sh --no-lint  everything but clang-tidy
#   tests/run.sh --lint-all clang-tidy with its analyzer, and over the tests; each source by itself (an hour on
#                           two cores)
#
# clang-tidy comes last, and begins nothing more after 75 minutes: what it has not read then is said, and counted as skipped.
# Where one single test fails, and it plays real hosts and servers, it is run once more, alone; if it passes
# then, it is named at the end as unsteady, and is no failure.
#
# The last line is `N passed, N failed`, with the skipped ones if there are any; the exit status is 0
# only when something was tested and nothing failed.
set -uo pipefail
cd "$(dirname "$0")/.."

scope=all
lint=yes
lint_all=
longest_tests=25m  # they take 3 to 8 minutes
lint_until=4500    # seconds, from the beginning of all
for argument in "$@"; do
  case "$argument" in
    --quick) scope=quick ;;
    --no-lint) lint=no ;;
    --lint-all) lint_all=--all ;;
    --help | -h) sed -n '2,18s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "unknown option: $argument (see --help)" >&2; exit 2 ;;
  esac
done

passed=0 failed=0 skipped=0
started=$SECONDS
failures=()
unsteady=()

phases=()  # when each began
say() {
  phases+=("$((SECONDS - started)) s  $*")
  printf '\n== %s  (%d s)\n' "$*" $((SECONDS - started))
}
must() { "$@" || { printf 'cannot go on without: %s\n0 passed, 1 failed\n' "$*"; exit 1; }; }

# check NAME COMMAND...: one test that is not ctest's. 77: this machine cannot run it, and it has said why.
check() {
  local name=$1 status=0
  shift
  say "$name"
  "$@" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) failures+=("$name") ;;
  esac
}

# run_tests PRESET [ctest options]
run_tests() {
  local preset=$1 report=$PWD/build/$1/report total bad left_out
  shift
  rm -f "$report".*
  say "tests of $preset"
  # One more at a time than there are processors: a test of programs waits a third of its time.
  # Where something that all tests need does not start, each would wait for its own timeout, for hours together.
  timeout --kill-after=30s "$longest_tests" ctest --test-dir "build/$preset" --output-on-failure -j "$(($(nproc) + 1))" \
        --output-junit "$report.xml" --no-tests=error "$@" || [ $? -ne 124 ] || say "tests of $preset: not done after $longest_tests"
  tests/report.py "$report.xml" >"$report.txt"
  if ! read -r total bad left_out <"$report.txt"; then failed=$((failed + 1)) failures+=("ctest of $preset"); return; fi
  [ "$total" -gt 0 ] || { failed=$((failed + 1)) failures+=("no test in $preset"); }
  if [ "$bad" -eq 1 ] && passes_alone "$preset"; then
    unsteady+=("in $preset"$'\n'"$(tail -n +2 "$report.txt")")
    bad=0
  fi
  [ "$bad" -eq 0 ] || failures+=("$bad in $preset"$'\n'"$(tail -n +2 "$report.txt")")
  passed=$((passed + total - bad - left_out)) failed=$((failed + bad)) skipped=$((skipped + left_out))
}

# passes_alone PRESET: whether the one test that failed beside others passes by itself. Only for those that
# play real hosts and servers, which a busy machine can hold up at any point; it is named at the end, for
# somebody to mend. A second failure of any kind is not forgiven.
passes_alone() {
  local report=$PWD/build/$1/report.again total bad left_out
  ctest --test-dir "build/$1" --rerun-failed -L '^(conformance|integration|sdk)$' --output-on-failure -j 1 \
        --output-junit "$report.xml" --no-tests=error || return 1
  read -r total bad left_out < <(tests/report.py "$report.xml") && [ "$total $bad $left_out" = "1 0 0" ]
}

# build PRESET [targets]
build() {
  local preset=$1
  shift
  say "building $preset"
  # Packages are made of the release build, which have one place.
  local prefix=$([ "$preset" = release ] && echo -DCMAKE_INSTALL_PREFIX=/usr)
  must cmake --preset "$preset" $prefix >"build/$preset.configure.log"
  must cmake --build --preset "$preset" "$@"
}

# Each header by itself, and with --lint-all each source: the other presets compile the sources of a folder
# together, and tests/includes_test.py reads what they include.
configure_lint() { cmake --preset lint >build/lint.configure.log; }
alone() { configure_lint && cmake --build --preset lint --target all_verify_interface_header_sets ${lint_all:+folders}; }
sources() { git ls-files '*.h' '*.cc'; }
format() { sources | xargs clang-format-19 --dry-run -Werror; }
booted() { tests/system/run.sh --few build/release; }
lint() {
  local left=$((lint_until - (SECONDS - started)))
  [ -z "$lint_all" ] || left=36000
  configure_lint && tests/lint.py build/lint $lint_all --within $((left > 0 ? left : 0))
}

say "packages"
must tests/install_packages.sh tests
must tests/fixtures/install.sh
mkdir -p build

if [ "$scope" = quick ]; then
  build release
  run_tests release
  check "format" format
else
  # The programs as they are installed, in their cells; what tests parts by hand runs with the
  # sanitizers below, built by the other compiler.
  build release --target tests_of_programs cellblockd cellblock-supervisor cellblock cellblock-launcher cellblock-gateway \
    cellblock-tools cellblock-audit cellblock-egress cellblock-http cellblock-metrics cellblock-probe cellblock-manual-files
  run_tests release -L '^(conformance|containment|integration|programs|sdk)$'
  check "hardening" tests/hardening_test.sh build/release/bin
  check "packages on a booted Debian" booted
  check "format" format
  check "each header by itself" alone
  build asan-ubsan
  run_tests asan-ubsan
  check "fuzz smoke" tests/fuzz/smoke.sh build/asan-ubsan
  build tsan --target tests_with_threads
  run_tests tsan -L threads
  if [ "$lint" = yes ]; then check "clang-tidy" lint; fi
fi

say "done"
printf '%s\n' "${phases[@]}"
for test in "${unsteady[@]}"; do echo "unsteady, passed when run alone: $test"; done
for failure in "${failures[@]}"; do echo "failed: $failure"; done
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
