/* SPDX-License-Identifier: MIT
 * Inside exact/: the functions of FLINT, see flint.def. */
#ifndef AG_EXACT_FLINT_H
#define AG_EXACT_FLINT_H
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/arb_mat.h>
#include <flint/fmpz_mpoly_factor.h>
#include <flint/nmod_poly.h>
#else
#include <arb.h>
#include <arb_mat.h>
#include <flint/fmpz_mpoly_factor.h>
#include <flint/nmod_poly.h>
#endif

#include "exact/exact.h"

struct ag_flint {
#define AG_FLINT(function) __typeof__(function) *function;
#include "exact/flint.def"
};
#endif
