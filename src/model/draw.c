/* SPDX-License-Identifier: MIT
 * The table of what can be drawn. */
#include "model/draw.h"

const ag_draw_row *ag_draw_find(ag_draw_kind kind) {
  /* clang-format off */
  static const ag_draw_row rows[] = {
#define AG_DRAW(kind, what) {#kind, what, {
#define AG_DRAW_ARG(name, word, shape, needed) {#name, word, AG_DRAW_##shape, needed},
#define AG_DRAW_END }},
#include "model/draw.def"
  };
  /* clang-format on */
  return &rows[kind];
}
