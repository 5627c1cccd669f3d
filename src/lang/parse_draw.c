/* SPDX-License-Identifier: MIT
 * `draw KIND(sizes) place ... clause value ...`: what a kind takes is in the table model/draw.def. */
#include <string.h>

#include "lang/parser.h"

/* The kind, by its name; an unknown one is an error with all names. */
static bool parse_kind(ag_parser *p, ag_draw_syn *d) {
  const char *names[AG_DRAW_KINDS];
  ag_text all = {0};
  for (int i = 0; i < AG_DRAW_KINDS; i++) {
    names[i] = ag_draw_find((ag_draw_kind)i)->name;
    ag_text_printf(&all, "%s%s", i == 0 ? "" : i == AG_DRAW_KINDS - 1 ? " or " : ", ", names[i]);
  }
  for (int i = 0; i < AG_DRAW_KINDS; i++)
    if (ag_parser_is_word(p, names[i])) d->kind = i;
  if (d->kind < 0) ag_parser_unexpected(p, ag_text_cstr(&all), AG_DRAW_KINDS, names);
  ag_text_done(&all);
  return d->kind >= 0;
}

/* "disk(r)", "bowl(rho: z)", "plane" */
static const char *form_of(const ag_parser *p, const ag_draw_row *row) {
  ag_text text = {0};
  ag_text_str(&text, row->name);
  int n = 0;
  for (int i = 0; row->args[i].name; i++)
    if (!strcmp(row->args[i].word, "("))
      ag_text_printf(&text, "%s%s%s", n++ ? ", " : "(", row->args[i].shape == AG_DRAW_PROFILE ? "rho: " : "",
                     row->args[i].name);
  if (n) ag_text_char(&text, ')');
  const char *form = ag_arena_str(p->arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return form;
}

static bool parse_sizes(ag_parser *p, ag_draw_syn *d) {
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  int n = 0;
  bool profile = false, places = false;
  for (int i = 0; row->args[i].name; i++) {
    n += !strcmp(row->args[i].word, "(");
    profile = profile || row->args[i].shape == AG_DRAW_PROFILE;
    places = places || !*row->args[i].word;
  }
  if (places) { /* parentheses belong to the place */
    d->shape = AG_NEW(p->arena, ag_syn);
    *d->shape = (ag_syn){.kind = AG_SYN_NAME, .pos = ag_parser_pos(p)};
    p->at++;
    return true;
  }
  d->shape = ag_parse_shape(p, "what to draw");
  if (!d->shape) return false;
  if ((d->shape->kind == AG_SYN_CALL ? d->shape->n : 0) == n && profile == (d->shape->owner != 0)) return true;
  return ag_parser_fail(p, d->shape->pos, "write this as %s", form_of(p, row));
}

/* Places directly after the kind, with comma-separated; between two names none is needed. */
static bool parse_places(ag_parser *p, ag_draw_syn *d) {
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  for (int i = 0; row->args[i].name && !*row->args[i].word; i++) {
    if (i) ag_parser_take(p, AG_TOKEN_COMMA);
    d->pos[i] = ag_parser_pos(p);
    if (p->at >= p->end)
      return i ? ag_parser_fail(p, d->shape->pos, "`%s` needs a second place: draw %s P, Q", row->name, row->name)
               : ag_parser_fail(p, d->shape->pos, "`%s` needs a %s", row->name,
                                row->args[i].shape == AG_DRAW_DIRECTION ? "direction: draw arrow v at P" : "place");
    if (!(d->args[i] = ag_parse_expr(p))) return false;
  }
  return true;
}

static bool parse_clause(ag_parser *p, ag_draw_syn *d) {
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  const char *words[AG_DRAW_ARGS + 2];
  int n = 0;
  if (ag_parser_is_word(p, "colour")) {
    if (d->colour) return ag_parser_fail(p, ag_parser_pos(p), "`colour` is given twice");
    p->at++;
    return (d->colour = ag_parse_expr(p)) != NULL;
  }
  for (int i = 0; row->args[i].name; i++) {
    const char *word = row->args[i].word;
    if (!*word || !strcmp(word, "(")) continue;
    words[n++] = word;
    if (!ag_parser_is_word(p, word)) continue;
    if (d->args[i]) return ag_parser_fail(p, ag_parser_pos(p), "`%s` is given twice", word);
    d->pos[i] = ag_parser_pos(p);
    p->at++;
    return (d->args[i] = ag_parse_expr(p)) != NULL;
  }
  words[n++] = "colour";
  words[n++] = "for";
  return ag_parse_no_clause(p, n, words);
}

bool ag_parse_draw(ag_parser *p, ag_stmt *s) {
  ag_draw_syn *d = s->draw = AG_NEW(p->arena, ag_draw_syn);
  d->kind = -1;
  if (!parse_kind(p, d) || !parse_sizes(p, d) || !parse_places(p, d)) return false;
  while (p->at < p->end && !ag_parser_is_word(p, "for"))
    if (!parse_clause(p, d)) return false;
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  for (int i = 0; row->args[i].name; i++) {
    if (!row->args[i].needed || d->args[i] || !strcmp(row->args[i].word, "(")) continue;
    return ag_parser_fail(p, d->shape->pos, "`%s` needs a place: %s at P", row->name, form_of(p, row));
  }
  return true;
}
