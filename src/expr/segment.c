/* SPDX-License-Identifier: MIT
 * The arrays that tapes read from: the table segment.def. */
#include "base/status.h"
#include "expr/tape.h"

enum { PREP = true, EVAL = false, ALWAYS = true, READ = false };
static const ag_segment segments[AG_SEG_COUNT] = {
#define AG_SEGMENT(NAME, name, when, passed, what) {#name, what, when, passed},
#include "expr/segment.def"
#undef AG_SEGMENT
};

const ag_segment *ag_segment_describe(ag_seg seg) {
  AG_ASSERT(seg >= 0 && seg < AG_SEG_COUNT);
  return &segments[seg];
}
