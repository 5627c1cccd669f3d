#!/bin/sh
# SPDX-License-Identifier: MIT
# vehicle.sh PROGRAM FOLDER FIGURE: the section of the underwater vehicle in docs/sections.md.
set -e
program=$1 folder=$2 figure=$3
mkdir -p "$folder"
"$program" run underwater_vehicle --section node --level energy=0.65 --solve nu --sweep theta0=-3:3:25 --sweep k1=-0.8:0.8:9 \
  --crossings 150 --columns tilt,Pi -o "$folder/vehicle.csv" --quiet >"$folder/vehicle.txt"
"$program" plot "$folder/vehicle.csv" --x tilt --y 'Pi[1]' --bare --width 12 -o "$figure"
