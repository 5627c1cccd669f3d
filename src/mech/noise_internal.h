/* SPDX-License-Identifier: MIT
 * Internals of the noise fields: transport velocities. */
#ifndef AG_MECH_NOISE_INTERNAL_H
#define AG_MECH_NOISE_INTERNAL_H
#include "mech/mech_internal.h"

/* noise_complete.c. complete: the velocity of a transport per coordinate, with `amplitude` in place of the values of
 * its parts; components that are not given follow from S sigma = 0, as those of a start. check: is S sigma = 0 over the
 * domain, and are there values? Reports what is wrong. */
ag_status ag_noise_complete(derive *d, const ag_noise *n, const ag_id *amplitude, ag_id *sigma);
ag_status ag_noise_check(derive *d, const ag_noise *n, const ag_id *sigma);
#endif
