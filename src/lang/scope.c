/* SPDX-License-Identifier: MIT
 * Names and their meanings; errors about them. */
#include <stdarg.h>
#include <string.h>

#include "lang/build.h"

enum { MAX_CANDIDATES = 2000 };

ag_symbol *ag_scope_symbol(ag_builder *b, int name) {
  if (name >= b->n_symbol) {
    int n = b->names->n > 2 * b->n_symbol ? b->names->n : 2 * b->n_symbol;
    b->symbols = ag_heap_grow(b->symbols, sizeof *b->symbols * (size_t)n);
    memset(b->symbols + b->n_symbol, 0, sizeof *b->symbols * (size_t)(n - b->n_symbol));
    b->n_symbol = n;
  }
  if (!b->symbols[name]) b->symbols[name] = AG_NEW(b->arena, ag_symbol);
  return b->symbols[name];
}

const char *ag_scope_text(const ag_builder *b, int name) { return b->names->text[name]; }

static ag_symbol *builtin(ag_builder *b, const char *name, ag_sym_kind kind) {
  ag_symbol *s = ag_scope_symbol(b, ag_names_id(b->names, name, strlen(name)));
  s->kind = (uint8_t)kind;
  return s;
}

void ag_scope_init(ag_builder *b) {
  static const char *const words[] = {"T", "if", "then", "else", "and", "or", "not", "sum"};
  static const char *const unit[] = {"e1", "e2", "e3"};
  ag_graph *g = b->g;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) builtin(b, words[i], AG_SYM_RESERVED);
  builtin(b, "t", AG_SYM_CONSTANT)->x = b->m->t;
  builtin(b, "pi", AG_SYM_CONSTANT)->x = ag_num(g, 3.14159265358979323846);
  builtin(b, "deg", AG_SYM_CONSTANT)->x = ag_num(g, 3.14159265358979323846 / 180);
  for (int i = 0; i < 3; i++) {
    ag_id e[3] = {ag_num(g, i == 0), ag_num(g, i == 1), ag_num(g, i == 2)};
    builtin(b, unit[i], AG_SYM_CONSTANT)->x = ag_stack(g, 3, 1, e);
  }
  builtin(b, "energy", AG_SYM_ENERGY);
  for (int i = 0; i < ag_call_count(); i++) builtin(b, ag_call_name(i), AG_SYM_FUNCTION)->index = i;
  ag_note_input(b, b->m->t, AG_ON_T);
  ag_note_prime(b, b->m->t, ag_num(g, 1));
}

void ag_scope_done(ag_builder *b) {
  free(b->symbols);
  free(b->notes);
  free(b->turns);
  free(b->file_starts);
  free(b->guesses);
  free(b->claims);
  free(b->frictions);
  free(b->bodies);
}

const char *ag_scope_kind(const ag_symbol *s) {
  switch ((ag_sym_kind)s->kind) {
  case AG_SYM_RESERVED: return "a word of the language";
  case AG_SYM_CONSTANT: return "built in";
  case AG_SYM_ENERGY: return "the energy, which every model has";
  case AG_SYM_FUNCTION: return "a function";
  case AG_SYM_PARAM: return "a parameter";
  case AG_SYM_COORD: return "a coordinate";
  case AG_SYM_VELOCITY: return "a velocity";
  case AG_SYM_FRAME: return "a velocity of the frame";
  case AG_SYM_PROCESS: return "a process";
  case AG_SYM_LET: return "a `let`";
  case AG_SYM_MACRO: return "a `let` with arguments";
  case AG_SYM_OBSERVABLE: return "an observable";
  case AG_SYM_BODY: return "a body";
  case AG_SYM_ANGLE: return "an Euler angle of a body";
  case AG_SYM_NONE:
  case AG_SYM_BAD: break;
  }
  return "unknown";
}

/* ---- reports ---- */

/* Is there already an error at this position? Follow-up errors mostly occur where the first one did. */
static bool reported(const ag_builder *b, ag_pos pos) {
  for (int i = 0; i < b->ctx->n_diag; i++) {
    const ag_diag *d = &b->ctx->diags[i];
    if (d->severity == AG_ERROR && d->pos.line == pos.line && d->pos.col == pos.col && d->file && b->ctx->file &&
        !strcmp(d->file, b->ctx->file))
      return true;
  }
  return false;
}

static void report(ag_builder *b, ag_pos pos, const char *format, va_list args) {
  char line[900];
  if (b->stopped || reported(b, pos)) return;
  vsnprintf(line, sizeof line, format, args);
  ag_ctx_error(b->ctx, pos, "%s", line);
  if (b->ctx->n_error - b->n_error0 >= AG_MAX_ERRORS) b->stopped = true;
}

bool ag_scope_failed(const ag_builder *b) { return b->ctx->n_error > b->n_error0; }

bool ag_scope_error(ag_builder *b, ag_pos pos, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(b, pos, format, args);
  va_end(args);
  return false;
}

bool ag_scope_stop(ag_builder *b, ag_pos pos, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(b, pos, format, args);
  va_end(args);
  b->stopped = true;
  return false;
}

bool ag_scope_work(ag_builder *b, ag_pos pos, int64_t amount) {
  if (b->stopped) return false;
  b->work += amount;
  if (b->work > AG_MAX_WORK)
    return ag_scope_stop(b, pos, "the model is too large: more than %d operations to expand it", AG_MAX_WORK);
  if (ag_graph_count(b->g) > AG_MAX_NODES)
    return ag_scope_stop(b, pos, "the model is too large: more than %d graph nodes", AG_MAX_NODES);
  return true;
}

const char *ag_scope_label(ag_arena *a, const char *option, const char *text) {
  char *label = ag_arena_printf(a, "%s %.200s", option, text);
  for (char *s = label; *s; s++)
    if ((unsigned char)*s < ' ') *s = ' ';
  return label;
}

void ag_scope_source(ag_builder *b, const ag_change *change, const char *file) {
  b->ctx->file = change ? change->label : file;
  b->ctx->source = change ? change->text : b->m->source;
}

/* ---- defining names ---- */

bool ag_scope_free(ag_builder *b, int name, ag_pos pos) {
  ag_symbol *s = ag_scope_symbol(b, name);
  const char *text = ag_scope_text(b, name);
  switch ((ag_sym_kind)s->kind) {
  case AG_SYM_NONE: return true;
  case AG_SYM_BAD:
    return s->pos.line == 0 || ag_scope_error(b, pos, "`%s` is defined twice; first on line %d", text, s->pos.line);
  case AG_SYM_RESERVED:
    if (!strcmp(text, "T")) ag_scope_error(b, pos, "`T` is reserved: `A^T` is the transpose");
    else ag_scope_error(b, pos, "`%s` is a keyword and cannot be a name", text);
    break;
  case AG_SYM_CONSTANT:
    if (!strcmp(text, "t")) ag_scope_error(b, pos, "`t` is the time and cannot be redefined");
    else ag_scope_error(b, pos, "`%s` is built in and cannot be redefined", text);
    break;
  case AG_SYM_ENERGY:
    ag_scope_error(b, pos, "`energy` is already defined in every model (the Jacobi integral); choose another name");
    break;
  case AG_SYM_FUNCTION: ag_scope_error(b, pos, "`%s` is a function and cannot be redefined", text); break;
  default:
    return ag_scope_error(b, pos, "`%s` is defined twice: it is already %s, on line %d", text, ag_scope_kind(s),
                          s->pos.line);
  }
  s->kind = AG_SYM_BAD; /* from here on the built-in meaning is not what the user intended */
  return false;
}

bool ag_scope_index(ag_builder *b, int name, ag_pos pos) {
  const ag_symbol *s = ag_scope_symbol(b, name);
  const char *text = ag_scope_text(b, name);
  if (s->kind == AG_SYM_RESERVED || s->kind == AG_SYM_CONSTANT || s->kind == AG_SYM_FUNCTION ||
      s->kind == AG_SYM_ENERGY)
    return ag_scope_error(b, pos, "`%s` is %s and cannot be a running index", text, ag_scope_kind(s));
  for (const ag_local *l = b->scope; l; l = l->next)
    if (l->index && l->name == name) return ag_scope_error(b, pos, "`%s` is already a running index", text);
  return true;
}

ag_symbol *ag_scope_define(ag_builder *b, int name, ag_sym_kind kind, ag_pos pos) {
  ag_symbol *s = ag_scope_symbol(b, name);
  s->kind = (uint8_t)kind;
  s->pos = pos;
  return s;
}

static void announce(ag_builder *b, int name, ag_pos pos, const ag_part *part) {
  ag_symbol *s = ag_scope_symbol(b, name);
  if (!name || s->later.line) return;
  s->later = pos;
  s->part = part;
}

void ag_scope_announce(ag_builder *b) {
  for (int i = 0; i < b->parse->n; i++) {
    const ag_stmt *s = &b->parse->at[i];
    if (s->error) continue;
    if (s->word == AG_WORD_BODY) announce(b, s->name, s->name_pos, NULL);
    if (s->word != AG_WORD_PARAM && s->word != AG_WORD_CONFIG && s->word != AG_WORD_LET && s->word != AG_WORD_FRAME &&
        s->word != AG_WORD_PROCESS && s->word != AG_WORD_OBSERVABLE && s->word != AG_WORD_CANDIDATE)
      continue;
    for (int k = 0; k < s->n_part; k++) {
      const ag_part *p = &s->parts[k];
      if (s->word == AG_WORD_OBSERVABLE && !p->right) continue;
      announce(b, p->name, p->pos, p);
      if (p->velocity) announce(b, p->velocity, p->velocity_pos, p);
    }
  }
}

void ag_scope_poison(ag_builder *b, const ag_stmt *s) {
  const ag_token *k = b->tokens->at + s->from;
  int n = s->to - s->from;
  if (s->word == AG_WORD_LAGRANGIAN) b->lagrangian_seen = true;
  for (int i = 1; i < n; i++) {
    if (k[i].kind != AG_TOKEN_NAME) continue;
    ag_symbol *sym = ag_scope_symbol(b, ag_names_id(b->names, b->tokens->text + k[i].from, k[i].len));
    bool defines = s->word == AG_WORD_NONE || s->word == AG_WORD_PARAM || s->word == AG_WORD_CONFIG ||
                   s->word == AG_WORD_PROCESS || s->word == AG_WORD_LET || s->word == AG_WORD_FRAME ||
                   s->word == AG_WORD_OBSERVABLE || s->word == AG_WORD_CANDIDATE || (s->word == AG_WORD_BODY && i == 1);
    if (i == 1 && (s->word == AG_WORD_ROLL || s->word == AG_WORD_RUBBER)) sym->silent = true;
    if (defines && sym->kind == AG_SYM_NONE && !sym->later.line) sym->kind = AG_SYM_BAD;
    if (i == 1 && s->word == AG_WORD_EVENT && !sym->event) sym->event = -1;
    if (i == 1 && s->word == AG_WORD_SECTION && !sym->section) sym->section = -1;
  }
}

/* ---- unknown names ---- */

const char *ag_scope_near(ag_builder *b, const char *name, unsigned kinds) {
  const char **list = ag_heap_alloc(sizeof *list * MAX_CANDIDATES);
  int n = 0;
  for (int i = 1; i < b->n_symbol && n < MAX_CANDIDATES; i++)
    if (b->symbols[i] && kinds >> b->symbols[i]->kind & 1) list[n++] = b->names->text[i];
  for (const ag_local *l = b->scope; l && n < MAX_CANDIDATES; l = l->next) list[n++] = b->names->text[l->name];
  const char *best = ag_nearest(name, n, list);
  free(list);
  return best;
}

/* Does the tree mention the name, directly or through names defined later? seen: names visited. */
static bool mentions(ag_builder *b, const ag_syn *s, int name, unsigned char *seen, int *budget) {
  if (!s || --*budget < 0) return false;
  if (s->kind == AG_SYN_NUMBER) return false;
  if (s->kind == AG_SYN_NAME || s->kind == AG_SYN_CALL) {
    if (s->name == name) return true;
    const ag_symbol *sym = ag_scope_symbol(b, s->name);
    if (sym->kind == AG_SYM_NONE && sym->part && !seen[s->name]) {
      seen[s->name] = 1;
      if (sym->part->right && mentions(b, sym->part->right, name, seen, budget)) return true;
    }
  }
  if (s->kind == AG_SYN_NAME || s->kind == AG_SYN_MEMBER) return false;
  for (int i = 0; i < s->n; i++)
    if (mentions(b, s->links[i].x, name, seen, budget) || mentions(b, s->links[i].y, name, seen, budget)) return true;
  return false;
}

static bool in_circle(ag_builder *b, const ag_part *later, int name) {
  int budget = 2000; /* also bounds the recursion */
  unsigned char *seen = ag_heap_alloc((size_t)b->names->n + 1);
  bool yes = later && later->right && mentions(b, later->right, name, seen, &budget);
  for (int i = 1; yes && i < b->names->n; i++)
    if (seen[i]) ag_scope_symbol(b, i)->circle = true; /* one message for the whole circle */
  free(seen);
  return yes;
}

/* xdot, x_dot, dx: the velocity of x under another name. NULL if it is none of these. */
static const char *dotted(ag_builder *b, const char *text) {
  size_t n = strlen(text);
  char base[64];
  if (n < 2 || n > 60) return NULL;
  for (int form = 0; form < 4; form++) {
    static const char *const tail[] = {"_dot", "dot", "p", ""};
    size_t cut = strlen(tail[form]);
    if (form < 3 && (n <= cut || strcmp(text + n - cut, tail[form]))) continue;
    if (form == 3 && text[0] != 'd' && text[0] != 'v') continue;
    snprintf(base, sizeof base, "%.*s", (int)(form < 3 ? n - cut : n - 1), form < 3 ? text : text + 1);
    const ag_symbol *s = ag_scope_symbol(b, ag_names_id(b->names, base, strlen(base)));
    if (s->kind == AG_SYM_COORD) return ag_arena_str(b->arena, base);
  }
  return NULL;
}

void ag_scope_unknown(ag_builder *b, int name, ag_pos pos, unsigned kinds) {
  const char *text = ag_scope_text(b, name);
  ag_symbol *s = ag_scope_symbol(b, name);
  bool calls = kinds == AG_SUGGEST_FUNCTIONS;
  const char *near;
  ag_symbol *owner = ag_scene_owner(b, text);
  if (b->stopped) return;
  if (owner && (owner->kind == AG_SYM_BAD || owner->silent)) { /* the definition of the body failed: nothing to add */
  } else if (owner && owner->kind == AG_SYM_BODY && !calls) ag_scene_no_part(b, owner, text, pos);
  else if (owner && owner->kind == AG_SYM_NONE && owner->later.line)
    ag_scope_error(b, pos, "`%s` belongs to a body that is defined only later, on line %d", text, owner->later.line);
  else if (name == b->defining) ag_scope_error(b, pos, "`%s` refers to itself", text);
  else if (s->later.line && b->defining && in_circle(b, s->part, b->defining))
    s->circle = true,
    ag_scope_error(b, pos, "`%s` and `%s` are defined in terms of each other", ag_scope_text(b, b->defining), text);
  else if (s->later.line)
    ag_scope_error(b, pos, "`%s` is defined only later, on line %d; a name must be defined before it is used", text,
                   s->later.line);
  else if ((near = calls ? ag_call_habit(text) : NULL))
    ag_scope_error(b, pos, "unknown function `%s`; here it is called `%s`", text, near);
  else if (!calls && (near = dotted(b, text)))
    ag_scope_error(b, pos, "unknown name `%s`; the velocity of `%s` is written `%s'`", text, near, near);
  else if ((near = ag_scope_near(b, text, kinds)))
    ag_scope_error(b, pos, "unknown %s `%s`; did you mean `%s`?", calls ? "function" : "name", text, near);
  else ag_scope_error(b, pos, "unknown %s `%s`", calls ? "function" : "name", text);
  s = ag_scope_symbol(b, name);
  s->kind = AG_SYM_BAD; /* no further messages; it may still be defined later */
  s->pos = (ag_pos){0};
}
