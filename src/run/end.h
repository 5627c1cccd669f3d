/* SPDX-License-Identifier: MIT
 * Why runs end, how right-hand sides are evaluated, and what becomes of the noise. Part of run.h. */
#ifndef AG_RUN_END_H
#define AG_RUN_END_H
#include "base/status.h"

/* Why a run ended. AG_END(NAME, word, exit code) */
#define AG_ENDS(X) \
  X(TIME, "time reached", AG_OK) \
  X(EVENT, "event", AG_OK) \
  X(CROSSINGS, "crossings reached", AG_OK) \
  X(STICKS, "sticks", AG_OK) \
  X(RANK, "constraints lost rank", AG_FAILED) \
  X(ROWS, "a constraint contradicts the motion", AG_FAILED) \
  X(MASS, "mass matrix not positive definite on the constraints", AG_FAILED) \
  X(SINGULAR, "the coordinates are singular here", AG_FAILED) \
  X(FINITE, "not finite", AG_FAILED) \
  X(STEP, "step too small", AG_FAILED) \
  X(TURN, "the constraints turn too far within one step: take smaller ones", AG_FAILED) \
  X(STAGES, "the stage equations did not converge: take smaller steps", AG_FAILED) \
  X(LEVEL, "a quantity projected onto is not constant along the motion", AG_FAILED) \
  X(DEPENDENT, "the quantities projected onto depend on each other here", AG_FAILED) \
  X(DOMAIN, "the motion left the domain where its velocities could be solved for: widen the domain", AG_FAILED) \
  X(PROJECT, "projection onto the constraints failed", AG_FAILED) \
  X(ENERGY, "energy not finite", AG_FAILED) \
  X(FORKS, "the motion can leave a switching surface to both sides", AG_FAILED) \
  X(SLIDES, "the motion along a switching surface cannot be continued", AG_FAILED) \
  X(ZENO, "switches of the equations accumulate", AG_FAILED) \
  X(STEPS, "step limit reached", AG_FAILED) \
  X(STOPPED, "interrupted", AG_FAILED) \
  X(SINK, "output could not be written", AG_SYSTEM)
typedef enum ag_end {
#define X(NAME, word, code) AG_END_##NAME,
  AG_ENDS(X)
#undef X
} ag_end;
const char *ag_end_word(ag_end end);
ag_status ag_end_status(ag_end end);

/* How right-hand sides are evaluated: the same bits either way. AUTO interprets a short run and compiles when it turns
 * out long; a kernel that is in the cache is used from the start. */
typedef enum ag_engine { AG_ENGINE_AUTO, AG_ENGINE_COMPILED, AG_ENGINE_INTERPRETED } ag_engine;

/* What a run does with the noise of a model: refuses to run (a motion without noise is not a motion of the model),
 * leaves it out, or follows one path of it (noisy.c). */
typedef enum ag_noise_use { AG_NOISE_REFUSED, AG_NOISE_OFF, AG_NOISE_PATH } ag_noise_use;
#endif
