#!/bin/sh
# SPDX-License-Identifier: MIT
# same_test.sh SOURCE PROGRAM PYTHON: tools/same.py passes a program against itself and finds one that computes otherwise; the
# measurements of bench/run.py --against are complete.
source=$1 program=$2 python=$3
. "$(dirname "$0")/expect.sh"

# compare CODE TEXT ARGUMENTS...: of same.py with the program and another.
compare() {
  code=$1 text=$2
  shift 2
  expect "$code" "$text" "$python" "$source/tools/same.py" "$program" "$@"
}

# other NAME OPTIONS: a program whose runs have other tolerances, or that lacks an option or a part of its report.
other() {
  printf '#!/bin/sh\nverb=$1; shift\n%s\nexec "%s" "$verb" "$@"\n' "$2" "$program" >"$dir/$1"
  chmod +x "$dir/$1"
}
other tighter '[ $verb != run ] || set -- "$@" --rtol 1e-12'
other tilted '[ $verb != run ] || set -- "$@" --set theta=1.0001'
other older 'case " $* " in *" --closure "*) echo "unknown option --closure" >&2; exit 2;; esac'
other poorer "[ \$verb != check ] || { '$program' check \"\$@\" | sed s/title/heading/; exit; }"
cases=adaptive,fixed,grid,h5,check
compare 0 "5 same, 0 differ, 0 skipped" "$program" --models pendulum --cases $cases
compare 1 "adaptive             pendulum                 differs" "$dir/tighter" --models pendulum --cases $cases
compare 0 "3 same, 0 differ" "$dir/tighter" --models pendulum --cases adaptive,grid,check --within 1e-8
compare 1 "1 differ" "$dir/tighter" --models pendulum --cases batch,check --within 1e-8
compare 0 "2 same" "$dir/tighter" --models pendulum --cases batch,check --within 1e-8 --anywhere
compare 1 "2 differ" "$dir/tilted" --models pendulum --cases batch,fixed --within 1e-8 --anywhere
compare 1 "4 differ" "$dir/tilted" --models pendulum --cases $cases --within 1e-8
compare 1 "1 differ" "$dir/poorer" --models pendulum --cases check
compare 0 "1 same" "$dir/poorer" --models pendulum --cases check --common
compare 1 "1 differ" "$dir/tilted" --models pendulum --cases adaptive --common --within 1e-8
compare 0 "known only to OLD" "$dir/older" --models pendulum --cases multipliers

# The measurements of bench/run.py --against, as far as nothing is compiled for them.
measurements='import sys; sys.path.insert(0, sys.argv[1] + "/bench"); sys.dont_write_bytecode = True; import against, run
print([name for name, _ in against.cases_of(["models/pendulum.nh"], run.LARGE, None, lambda name: "a" not in name[:2])])'
expect 0 "'program pendulum', 'pendulum', 'inerters K=100', 'body_chain K=100'" "$python" -c "$measurements" "$source"
exit $failed
