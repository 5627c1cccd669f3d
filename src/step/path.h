/* SPDX-License-Identifier: MIT
 * Wiener paths: numbers that depend on seed, path and time alone. Part of step.h. */
#ifndef AG_STEP_PATH_H
#define AG_STEP_PATH_H
#include "step/step.h"

/* Step k (from t0 + k h to t0 + (k+1) h) of one path: out as `draws` asks, AG_WIENER_PLAIN,
 * AREAS, ... A function of its arguments alone: steps may be requested in any order. The same bits as in kernels. */
size_t ag_wiener_size(const ag_wiener *w, int draws); /* numbers in out */
size_t ag_wiener_work(const ag_wiener *w, int draws); /* numbers in work */
void ag_wiener_step(const ag_wiener *w, unsigned long long path, unsigned long long k, int draws, double *out,
                    double *work);
/* Two uniform numbers in (0, 1) for path `path`; a normal number: neither depends on the base. */
void ag_wiener_uniform(const ag_wiener *w, unsigned long long path, unsigned long long k, int channel, double u[2]);
double ag_wiener_normal(const ag_wiener *w, unsigned long long path, unsigned long long k, int channel);
/* Halvings of a base interval for Levy areas: pieces no longer than base^2 where base is 2^-4 to 2^-12, so that the
 * part missing from the areas of steps is of higher order. */
int ag_wiener_area_level(double base);
/* A base for steps dt: 2^e when dt = m 2^e with an odd m <= 16, else dt. */
double ag_wiener_near(double dt);
/* Sets multiple and level for steps dt on the base. False: dt is neither a multiple nor base/2^k; the nearest valid
 * values. */
bool ag_wiener_fit(ag_wiener *w, double dt, double nearest[2]);
/* Halves the step. False: half of it is not on the grid. */
bool ag_wiener_half(ag_wiener *w);
/* How many steps cover `span`. False: dt does not divide it, or there are more than 2^32 base intervals; the nearest
 * values that divide it. */
bool ag_wiener_divides(const ag_wiener *w, double dt, double span, unsigned long long *steps, double nearest[2]);
/* The steps next to dt that are on the grid and divide `span`, below and above it: where there is one alone, twice.
 * False: there is none. */
bool ag_wiener_suitable(const ag_wiener *w, double dt, double span, double nearest[2]);
extern const char ag_wiener_text[], ag_wiener_core_text[]; /* wiener.h and wiener_core.h, for kernels */
#endif
