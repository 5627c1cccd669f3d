#!/bin/sh
# SPDX-License-Identifier: MIT
# vehicle.sh PROGRAM FOLDER FIGURE METHODS: sections of the underwater vehicle, FIGURE of docs/sections.md and METHODS of
# docs/methods.md.
set -e
program=$1 folder=$2 figure=$3 methods=$4
mkdir -p "$folder"
"$program" run underwater_vehicle --section node --level energy=0.65 --solve nu --sweep theta0=-3:3:25 --sweep k1=-0.8:0.8:9 \
  --crossings 150 --columns tilt,Pi -o "$folder/vehicle.csv" --quiet >"$folder/vehicle.txt"
"$program" plot "$folder/vehicle.csv" --x tilt --y 'Pi[1]' --bare --width 12 -o "$figure"

run() {
  name=$1
  shift
  "$program" run underwater_vehicle --set theta0=1.57 --set k1=0.3 --set nu=0.05 --section node --crossings 700 "$@" \
    -o "$folder/$name.h5" --quiet >"$folder/$name.txt"
}
run rk4 --method rk4 --dt 0.5
run se3_euler --method se3_euler --dt 0.5
run reference --rtol 1e-13 --atol 1e-13
cd "$folder" # files are named in the key as they are given
"$program" plot rk4.h5 se3_euler.h5 reference.h5 --x tilt --y 'Pi[1]' --title 'Underwater vehicle, steps of 0.5' -o "$methods"
