#!/bin/sh
# SPDX-License-Identifier: MIT
# experiments.sh PROGRAM FOLDER FIGURES: the figures of docs/experiments.md, with the commands it shows and its models;
# results go to FOLDER.
set -e
program=$1 folder=$2 figures=$3 text=$(dirname "$0")/../docs/experiments.md
mkdir -p "$folder"
model() { # a model of the text: from the line "# NAME.nh" to the end of its block
  sed -n "/^# $1.nh\$/,/^\`\`\`\$/p" "$text" | sed '$d' >"$folder/$1.nh"
}
model routh_slope
model frozen_ball
cd "$folder" # files are named in the key as they are given
quietly() { "$program" "$@" --quiet >experiment.txt; }
ensemble() { quietly ensemble "$@"; }

ensemble noisy_vertical_disk --set xi2=0.1 --paths 10 --seed 1 --dt 1/64 --t1 10 --every 1/8 --columns x,y --chosen 0:9 \
  -o noise.h5
quietly run noisy_vertical_disk --noise off --t1 10 --every 1/8 -o calm.h5
"$program" plot noise.h5 calm.h5 --x x --y y -o "$figures/noisy_disk.png"

ensemble noisy_routh_sphere --paths 400 --seed 1 --dt 0.02 --t1 40 --every 0.2 --columns E,jellett,routh,xgc \
  --chosen 0:9 -o noise.h5
quietly run noisy_routh_sphere --noise off --t1 40 --every 0.2 -o calm.h5
"$program" plot noise.h5 calm.h5 E jellett routh -o "$figures/noisy_routh.png"
"$program" plot noise.h5 calm.h5 --x 'xgc[1]' --y 'xgc[2]' -o "$figures/noisy_track.png"
quietly run routh_slope.nh --seed 1 --dt 1/64 --t1 100 -o slope.h5
"$program" plot slope.h5 --x jellett --y routh -o "$figures/noisy_slope.png"

ensemble frozen_ball.nh --method midpoint --paths 400 --seed 1 --dt 0.025 --t1 40 --every 0.2 --chosen 0:9 -o noise.h5
quietly run frozen_ball.nh --noise off --t1 40 --every 0.2 -o calm.h5
"$program" plot noise.h5 calm.h5 E M_up -o "$figures/noisy_frozen.png"

for method in rk4 variational_euler; do
  quietly run lattice --set A=1.5 --set j=6 --method $method --dt 1/4 --t1 10000 --every 10 -o $method.h5 2>warnings.txt
done
"$program" plot rk4.h5 variational_euler.h5 temperature energy -o "$figures/bro_lattice.png"

for method in euler_maruyama implicit_euler_maruyama variational_euler; do
  ensemble warm_sliding_disk --paths 4000 --dt 1/10 --dt-base 1/10 --t1 100 --every 1 --columns Kv,Kw --method $method \
    -o $method.h5
done
"$program" plot euler_maruyama.h5 implicit_euler_maruyama.h5 variational_euler.h5 Kv Kw -o "$figures/bro_disk.png"
