# SPDX-License-Identifier: MIT
# The spin and the rocking of a rattleback against time, from the table that `anagyre run rattleback -o` wrote.
#   gnuplot -e "table='rattleback.csv'; figure='rattleback.png'; reversal=74.7" rattleback.gp
# The ending of the figure (png, svg or pdf) chooses the format.
if (figure[strlen(figure)-2:] eq "png") {
  set terminal pngcairo size 1600,1000 font "DejaVu Sans,22" linewidth 2
} else { if (figure[strlen(figure)-2:] eq "svg") {
  set terminal svg size 800,500 font "DejaVu Sans,11" background "white"
} else {
  set terminal pdfcairo size 16cm,10cm font "DejaVu Sans,9"
}}
set encoding utf8
set output figure
set datafile separator ","
stats table using 1 skip 1 nooutput name "T"
set xrange [0:T_max]
set border 3 linecolor "gray30"
set tics nomirror out scale 0.6
set lmargin at screen 0.11
set rmargin at screen 0.97
set key horizontal top right samplen 1.5 height 0.3
set format y "%4.1f"

set multiplot
# above: the spin, which passes through zero and comes back the other way
set tmargin at screen 0.96
set bmargin at screen 0.51
set format x ""
set yrange [-0.65:0.65]
set ytics 0.3
set ylabel "spin  Ω·Γ" offset 0.5
set arrow 1 from 0,0 to T_max,0 nohead linecolor "gray60" linewidth 0.7 back
set arrow 2 from reversal,-0.65 to reversal,0.65 nohead linecolor "gray60" dashtype 2 linewidth 0.7 back
set label 1 sprintf("reverses at t = %.3f", reversal) at reversal,0.5 offset 1,0
plot table using (column("t")):(column("spin")) with lines linecolor "#1f4e79" linewidth 1.6 notitle

# below: the rocking that takes the energy of the spin and gives it back
unset label 1
set tmargin at screen 0.47
set bmargin at screen 0.13
set format x "%g"
set xlabel "time t"
set yrange [-0.6:0.6]
set ylabel "rocking" offset 0.5
set arrow 2 from reversal,-0.6 to reversal,0.6 nohead linecolor "gray60" dashtype 2 linewidth 0.7 back
plot table using (column("t")):(column("Omega[1]")) with lines linecolor "#d1622b" title "Ω_1", \
     table using (column("t")):(column("Omega[2]")) with lines linecolor "#6fa8dc" title "Ω_2"
unset multiplot
