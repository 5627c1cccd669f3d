/* SPDX-License-Identifier: MIT
 * Internals of the builder: syntax tree to ag_model, with names and shapes checked. Shared by the files of lang/ only.
 * The statements are processed in order, in one pass. Each error is reported once: a name whose definition failed, or
 * that is unknown and has been reported, has the kind BAD, and an expression that uses it is BAD without a further
 * message. Functions that return false, 0 or NULL on error have already reported it. */
#ifndef AG_LANG_BUILD_H
#define AG_LANG_BUILD_H
#include "base/entry.h"
#include "lang/lang.h"
#include "lang/parse.h"
#include "model/parts.h"

enum {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* lower limits, reached sooner */
  AG_MAX_NODES = 20000,
  AG_MAX_WORK = 80000,
#else
  AG_MAX_NODES = 1000000, /* nodes of the graph */
  AG_MAX_WORK = 4000000,  /* syntax nodes evaluated and entries built while expanding */
#endif
  AG_MAX_ERRORS = 50,
  AG_MAX_SIZE = 100000,     /* rows of a vector, members of a family, terms of a sum, velocities of a model */
  AG_MAX_ENTRIES = 1000000, /* entries of a matrix */
  AG_MAX_EVAL_DEPTH = 500,  /* nesting of expressions and of the lets with arguments they call */
  AG_MAX_SOLVE = 12         /* rows of a matrix whose determinant or inverse is taken */
};

/* What an expression depends on, one bit each. */
enum {
  AG_ON_PARAM = 1,
  AG_ON_T = 2,
  AG_ON_Q = 4,
  AG_ON_XI = 8,
  AG_ON_PROCESS = 32,
  AG_ON_MOTION = 16 /* energy, drives, reactions: available only after the motion is known */
};

typedef enum ag_sym_kind {
  AG_SYM_NONE,     /* unknown so far */
  AG_SYM_BAD,      /* an error was already reported */
  AG_SYM_RESERVED, /* T, if, ... */
  AG_SYM_CONSTANT, /* t, pi, e1 */
  AG_SYM_ENERGY,
  AG_SYM_FUNCTION, /* index: row of the table */
  AG_SYM_PARAM,    /* index in model->params */
  AG_SYM_COORD,    /* index: the first of count factors in model->coords; count 0: not a family */
  AG_SYM_VELOCITY, /* the same for its velocity */
  AG_SYM_FRAME,    /* index in model->frames */
  AG_SYM_PROCESS,  /* index in model->processes */
  AG_SYM_LET,
  AG_SYM_MACRO, /* a let with arguments; see part */
  AG_SYM_OBSERVABLE,
  AG_SYM_BODY, /* index in builder->bodies */
  AG_SYM_ANGLE /* an Euler angle of a body: index 3*body + 0, 1, 2 */
} ag_sym_kind;

/* Sets of kinds, for suggestions. */
enum {
  AG_SUGGEST_FUNCTIONS = 1u << AG_SYM_FUNCTION | 1u << AG_SYM_MACRO,
  AG_SUGGEST_PARAMS = 1u << AG_SYM_PARAM,
  AG_SUGGEST_COORDS = 1u << AG_SYM_COORD,
  AG_SUGGEST_TARGETS = 1u << AG_SYM_COORD | 1u << AG_SYM_VELOCITY | 1u << AG_SYM_FRAME | 1u << AG_SYM_PROCESS,
  AG_SUGGEST_VALUES = AG_SUGGEST_TARGETS | AG_SUGGEST_PARAMS | 1u << AG_SYM_CONSTANT | 1u << AG_SYM_ENERGY |
                      1u << AG_SYM_LET | 1u << AG_SYM_OBSERVABLE | 1u << AG_SYM_ANGLE
};

typedef struct ag_symbol {
  uint8_t kind;
  bool used;
  bool circle;  /* part of a circular definition that was reported */
  ag_id x;      /* the node the name stands for; an integer parameter: its value */
  ag_id number; /* PARAM: its value as a constant node */
  int index, count;
  const ag_part *part; /* MACRO; before its definition: where the name will be defined */
  ag_pos pos, later;   /* where it is defined; where it will be (line 0: nowhere) */
  int channel; /* 1 + its index in the list of the model; -1: a family, whose members have symbols of their own */
  int event, section, generator,
      reference;  /* index + 1 in the list of the model, -1: failed; these are separate namespaces */
  int constraint; /* index + 1 of the first constraint with this name, + AG_MAX_SIZE for a holonomic one; -1: failed */
  int n_constraint;            /* so many follow each other under this name: a statement with `for` */
  const struct ag_stmt *named; /* that statement */
  bool silent;                 /* BODY: its definition failed, so unknown parts are not reported */
  int set;                     /* 1 + index of the `--set` with this name */
} ag_symbol;

typedef enum ag_value_kind { AG_VALUE_BAD, AG_VALUE_NODE, AG_VALUE_CONDITION, AG_VALUE_FAMILY } ag_value_kind;
typedef enum ag_role { AG_ROLE_Q, AG_ROLE_XI, AG_ROLE_DRIVE, AG_ROLE_REACTION, AG_ROLE_PROCESS } ag_role;

typedef struct ag_value {
  uint8_t kind, role; /* role, first, count: for FAMILY */
  bool empty;         /* a sum without terms: zero of any shape */
  ag_id x;
  int first, count;
} ag_value;

/* Running indices and arguments, innermost first. */
typedef struct ag_local {
  int name;
  bool index; /* a running index, not an argument */
  ag_value value;
  const struct ag_local *next;
} ag_local;

/* What is known about a node of the graph. */
typedef struct ag_note {
  uint8_t on;     /* AG_ON_... */
  uint32_t stamp; /* of the last count that visited it */
  ag_id prime;    /* its total time derivative, once computed */
} ag_note;

/* A rotation built as rotation(axis, angle), remembered so that angvel stays short. */
typedef struct ag_turn {
  ag_id x, axis, angle;
} ag_turn;

/* A --set, with its own text and tokens. */
typedef struct ag_change {
  const char *label, *text;
  ag_tokens tokens;
  ag_stmt stmt;
  bool used;
  ag_vary *vary; /* a number to be varied, or NULL */
} ag_change;

/* An Euler angle or its rate at the start. */
typedef struct ag_angle {
  ag_id x; /* 0: not given */
  bool outside;
  ag_pos pos;
} ag_angle;

typedef struct ag_scene_body {
  ag_body *body;
  ag_id gravity;            /* from the body statement, until the first contact uses it; 0: none */
  bool weighed;             /* gravity was given */
  const ag_contact *rubber; /* the contact without twist, or NULL */
  ag_angle euler[2][3];     /* angles, then rates: phi, theta, psi */
  ag_angle omega[3];        /* angular velocity in the space frame */
} ag_scene_body;

/* friction v = c: the force -c G^T v with v = G xi. */
typedef struct ag_friction {
  ag_id v, c;
  double value;   /* of c where it is known, else 1 */
  ag_pos pos, at; /* of v and of c */
} ag_friction;

typedef struct ag_builder {
  ag_ctx *ctx;
  int n_error0;    /* errors in the context before this file */
  ag_arena *arena; /* temporary, freed after reading */
  ag_names *names;
  const ag_tokens *tokens;
  const ag_parse *parse;
  ag_model *m;
  ag_graph *g;
  ag_symbol **symbols; /* indexed by the number of the name; pointers stay valid */
  int n_symbol;
  const ag_local *scope;
  int depth;
  const char *stack_end; /* of ag_stack_end() */
  int64_t work;
  bool stopped; /* a limit was reached: no further messages */
  bool numeric; /* parameters stand for their values */
  ag_word word; /* the statement being built */
  int defining; /* the name being defined, 0: none */
  ag_note *notes;
  int n_note, cap_note;
  uint32_t stamp;
  ag_turn *turns;
  int n_turn, cap_turn;
  ag_change *changes;
  int n_change;
  int n_velocity;
  AG_LIST(ag_start, file_starts); /* start statements of the file, in order */
  AG_LIST(ag_start, guesses);     /* guess statements */
  AG_LIST(ag_item, claims);       /* matrices declared to be rotations */
  AG_LIST(ag_friction, frictions);
  ag_id temperature; /* 0: none */
  ag_pos temperature_pos;
  AG_LIST(ag_scene_body, bodies);
  bool lagrangian_seen, body_seen, drawn_full; /* drawn_full: as many things as can be */
  bool later_round[8]; /* for each running index of the statement: is it past its first value? */
  int noted;           /* number of errors at the last note about a use of a let */
} ag_builder;

/* ---- scope.c: names, reports ---- */
void ag_scope_init(ag_builder *b);
void ag_scope_done(ag_builder *b);
ag_symbol *ag_scope_symbol(ag_builder *b, int name);
const char *ag_scope_text(const ag_builder *b, int name);
/* May this name be defined? Reports an error if it is taken or reserved. */
bool ag_scope_free(ag_builder *b, int name, ag_pos pos);
/* May it be used as a running index here? */
bool ag_scope_index(ag_builder *b, int name, ag_pos pos);
/* Defines it (kind BAD: its definition failed). */
ag_symbol *ag_scope_define(ag_builder *b, int name, ag_sym_kind kind, ag_pos pos);
/* Reports an unknown name, with a suggestion among names of these kinds, and makes it BAD. */
void ag_scope_unknown(ag_builder *b, int name, ag_pos pos, unsigned kinds);
/* "did you mean" among the names whose kind is in the bit set `kinds`; NULL if none is similar. */
const char *ag_scope_near(ag_builder *b, const char *name, unsigned kinds);
const char *ag_scope_kind(const ag_symbol *s); /* "a parameter" */
/* Reports an error at a position, at most one per position. Always returns false. */
bool ag_scope_error(ag_builder *b, ag_pos pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ag_scope_failed(const ag_builder *b); /* has an error been reported? */
/* Reports that a limit is exceeded and silences all later messages. Always returns false. */
bool ag_scope_stop(ag_builder *b, ag_pos pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ag_scope_work(ag_builder *b, ag_pos pos, int64_t amount); /* counts work; false if the limit is exceeded */
/* Makes the names that a broken statement would have defined BAD. */
void ag_scope_poison(ag_builder *b, const ag_stmt *s);
/* Records where names will be defined, for better messages. */
void ag_scope_announce(ag_builder *b);
/* What messages call a text from the command line: "--set m=2", on one line. */
const char *ag_scope_label(ag_arena *a, const char *option, const char *text);
/* Makes positions refer to the text of a --set (NULL: the file again). */
void ag_scope_source(ag_builder *b, const ag_change *change, const char *file);

/* ---- note.c: dependencies of nodes, shapes in words, primes ---- */
void ag_note_input(ag_builder *b, ag_id x, int on);
int ag_note_on(ag_builder *b, ag_id x);
void ag_note_prime(ag_builder *b, ag_id x, ag_id dx);
bool ag_note_derive(ag_builder *b, ag_id x, ag_pos pos, ag_id *dx); /* the prime; false on error */
const char *ag_note_shape(ag_builder *b, ag_id x);                  /* "a 3-vector" */
const char *ag_note_value(ag_builder *b, ag_value v);
bool ag_note_same(const ag_builder *b, ag_id x, ag_id y); /* same shape */

/* ---- eval.c ---- */
ag_value ag_eval(ag_builder *b, const ag_syn *s);
/* An expression that is a scalar, vector or matrix; 0 on error. what: for messages, such as "the Lagrangian". */
ag_id ag_eval_node(ag_builder *b, const ag_syn *s);
ag_id ag_eval_scalar(ag_builder *b, const ag_syn *s, const char *what);
/* An integer known while reading; false on error. */
bool ag_eval_whole(ag_builder *b, const ag_syn *s, const char *what, double *v);
/* The value of a scalar for the current parameters; false on error. */
bool ag_eval_number(ag_builder *b, const ag_syn *s, const char *what, double *v);
ag_value ag_eval_good(ag_id x);
ag_value ag_eval_bad(void);
/* The node of a value; 0 if it is BAD, or on error (families, conditions). */
ag_id ag_eval_take(ag_builder *b, ag_value v, ag_pos pos);

/* ---- lookup.c: names, calls, primes, indices ---- */
ag_value ag_lookup_name(ag_builder *b, const ag_syn *s);
ag_value ag_lookup_member(ag_builder *b, const ag_syn *s);
ag_value ag_lookup_call(ag_builder *b, const ag_syn *s);
ag_value ag_lookup_postfix(ag_builder *b, const ag_syn *s);
/* The index (from 0) into `base`, which has n entries or members. False on error. */
bool ag_lookup_index(ag_builder *b, const ag_syn *s, const char *what, const ag_syn *base, int n, int *i);
/* Reports unknown names in the body of a let with arguments, before it is used. */
void ag_lookup_check(ag_builder *b, const ag_syn *s, const ag_part *macro);

/* ---- call.c, rotate.c ---- */
int ag_call_count(void);
const char *ag_call_name(int i);
const char *ag_call_habit(const char *name); /* the name here of a function known from other languages, or NULL */
ag_value ag_call(ag_builder *b, int function, const ag_syn *s, int n, const ag_id *args);
ag_id ag_rotate_axis(ag_builder *b, ag_id axis, ag_id angle, ag_pos pos);
ag_id ag_rotate_euler(ag_builder *b, ag_id phi, ag_id theta, ag_id psi);
ag_id ag_rotate_angles(ag_builder *b, ag_id R);
ag_id ag_rotate_velocity(ag_builder *b, ag_id A, ag_pos pos);

/* ---- statements: define.c, dynamics.c, start.c, expect.c ---- */
/* The values of an expression in parameters, row-major; false if not finite. */
bool ag_define_value(ag_builder *b, ag_id x, double *v);
/* A value that is varied becomes a parameter, whose name ("start x") has a blank and is thus never taken. */
void ag_define_varied(ag_builder *b, ag_change *c, const char *what);
void ag_define_param(ag_builder *b, const ag_part *p);
void ag_define_config(ag_builder *b, const ag_part *p);
void ag_define_let(ag_builder *b, const ag_part *p);
void ag_define_frame(ag_builder *b, const ag_part *p);
void ag_define_observable(ag_builder *b, const ag_part *p);
void ag_define_candidate(ag_builder *b, const ag_part *p);
void ag_dynamics_lagrangian(ag_builder *b, const ag_stmt *s);
void ag_dynamics_equation(ag_builder *b, const ag_stmt *s); /* constraint, holonomic, relation */
void ag_dynamics_assign(ag_builder *b, const ag_stmt *s);   /* prescribe, force, domain */
void ag_dynamics_event(ag_builder *b, const ag_stmt *s);
void ag_dynamics_generator(ag_builder *b, const ag_stmt *s);
void ag_process_statement(ag_builder *b, const ag_stmt *s);
/* If this start or --set (outside) gives that of a process, stores it and returns true. */
bool ag_process_start(ag_builder *b, const ag_part *p, bool outside);
/* The place of the process N or N[i] among those of the model; -1: the target is no process; -2: reported. */
int ag_process_find(ag_builder *b, const ag_syn *target);
void ag_noise_statement(ag_builder *b, const ag_stmt *s);
void ag_friction_statement(ag_builder *b, const ag_stmt *s);
void ag_temperature_statement(ag_builder *b, const ag_stmt *s);
void ag_friction_finish(ag_builder *b); /* forces, and with a temperature their noise */
void ag_ito_finish(ag_builder *b);      /* noise in the sense of Ito becomes Stratonovich's, with a drift */
void ag_start_statement(ag_builder *b, const ag_stmt *s);
void ag_start_finish(ag_builder *b); /* first the values of --set, then those of the file */
void ag_expect_statement(ag_builder *b, const ag_stmt *s);

/* ---- bodies: body.c, euler.c ---- */
void ag_scene_body_statement(ag_builder *b, const ag_stmt *s);
void ag_scene_contact_statement(ag_builder *b, const ag_stmt *s); /* roll, rubber */
void ag_scene_joint(ag_builder *b, const ag_stmt *s, const ag_syn *call);
/* The part of a dotted name before its first dot, as a symbol; NULL if there is no dot. */
ag_symbol *ag_scene_owner(ag_builder *b, const char *text);
/* Why a body has no such part, as a complete message. */
void ag_scene_no_part(ag_builder *b, const ag_symbol *owner, const char *text, ag_pos pos);
void ag_scene_finish(ag_builder *b); /* after the last statement */
/* If this start or --set gives an Euler angle, a rate, or the angular velocity in space, stores it and returns true. */
bool ag_euler_start(ag_builder *b, const ag_part *p, bool outside);
typedef void ag_euler_push(ag_builder *b, void *data, const ag_start *s, bool outside);
/* Passes the resulting start of R (rates: of Omega) to push. */
void ag_euler_finish(ag_builder *b, bool rates, ag_euler_push *push, void *data);

/* ---- draw.c ---- */
/* Evaluates the draw statements, after everything else, and sets their nodes aside. */
void ag_draw_finish(ag_builder *b);

/* ---- target.c: left sides of assignments; running indices ---- */
typedef struct ag_target {
  bool velocity;
  int coord, row, frame; /* row -1: all of it; frame -1: none */
  int rows, cols;
  const char *text; /* "x'[2]" */
} ag_target;
/* velocity_only: for force and generator. False on error. */
bool ag_target_find(ag_builder *b, const ag_syn *s, bool velocity_only, ag_target *out);
/* The value for a target: its shape is checked; 0 fits every vector. 0 on error. */
ag_id ag_target_value(ag_builder *b, const ag_target *t, const ag_syn *s);
/* Is an entry of a statement used for the current values of the running indices? One that does not contain an index is
 * used once. */
bool ag_target_due(const ag_builder *b, const ag_stmt *s, const ag_part *p);
/* Calls body(b, s, data) for all values of the running indices of a statement. */
void ag_target_loop(ag_builder *b, const ag_stmt *s, void (*body)(ag_builder *, const ag_stmt *, void *), void *data);
/* The text of a statement with the current values of its running indices, in the arena of the model. */
const char *ag_target_text(ag_builder *b, const ag_stmt *s);

/* ---- degree.c ---- */
/* Per node of the graph: an upper bound of its degree in the velocities (large: not a polynomial). To be freed. */
uint8_t *ag_degree_bounds(ag_builder *b);
/* Is x of at most this degree (1 or 2) in the velocities, on every branch and for all parameters? */
bool ag_degree_holds(ag_builder *b, const uint8_t *bounds, ag_id x, int most, ag_pos pos);

/* ---- verify.c: after the last statement ---- */
/* Registers a 3x3 matrix declared to be a rotation, to be checked at the end. */
void ag_verify_later(ag_builder *b, ag_id x, ag_pos pos);
void ag_verify_rotations(ag_builder *b); /* checks those registered since the last call */
void ag_verify_model(ag_builder *b);
/* Warns of an angle that looks like degrees; name NULL: it has none. */
void ag_verify_angle(ag_builder *b, ag_pos pos, const char *name, ag_id x);
#endif
