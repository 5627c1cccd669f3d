/* SPDX-License-Identifier: MIT
 * Inside the graph: shared by the files of expr/ and by nobody else.
 *
 * Nodes stand in one growing array in order of creation; arguments always have smaller ids than their node, so a
 * loop over ids is a topological order and nothing ever recurses on depth. The array moves when it grows: keep ids,
 * not pointers, across any builder call. */
#ifndef AG_EXPR_GRAPH_INTERNAL_H
#define AG_EXPR_GRAPH_INTERNAL_H
#include "base/arena.h"
#include "base/status.h"
#include "expr/expr.h"

/* flags: proper rotation; depends on no input; on parameters at most */
enum { AG_NODE_ROTATION = 1, AG_NODE_CONSTANT = 2, AG_NODE_PREPARED = 4 };

typedef struct ag_node {
  uint16_t op, flags;
  int32_t rows, cols;
  uint32_t n_arg, first; /* arguments: pool[first .. first + n_arg - 1] */
  ag_id alias;           /* not 0: this request was simplified to that node; never an argument of anything */
  uint32_t hash;
  union {
    double num; /* NUM */
    struct {
      int32_t i, j;
    } at; /* SLOT, PICK, ROWS: i; ENTRY: i, j; SOLVE: i = kind; INPUT: i = serial, j = ag_leaf */
    uint64_t bits;
  } payload;
} ag_node;

/* A place of the hash table: the hash stands beside the node, which is elsewhere in memory and need not be looked at.
 */
typedef struct ag_place {
  uint32_t hash;
  ag_id id; /* 0: empty */
} ag_place;

/* A pattern of a sparse matrix; its ldl is made when it is first wanted. */
typedef struct ag_kept_pattern {
  ag_pattern pattern;
  ag_ldl *ldl;
} ag_kept_pattern;

/* Where a folded number came from. */
typedef struct ag_origin_of {
  ag_id x, args[3];
  ag_op op;
  int n;
} ag_origin_of;

enum { AG_RULE_TABLES = 5 }; /* ag_rules_common and the others below */
/* Room for four bytes per node, all zero. It is reused, so that a query about a small part of a large graph costs only
 * as much as that part. */
typedef struct ag_scratch {
  size_t size;
  ag_id at[];
} ag_scratch;

struct ag_graph {
  ag_arena *arena; /* names */
  ag_node *nodes;  /* nodes[0] is no node */
  int n_node, cap_node;
  ag_id *pool; /* arguments */
  int n_pool, cap_pool;
  ag_place *table;     /* open addressing */
  uint32_t table_size; /* a power of two */
  const char **names;  /* of inputs, by serial */
  int n_name, cap_name;
  int depth;                                            /* of rules calling builders */
  uint32_t n_asked;                                     /* how often a node was asked for */
  uint16_t rule_first[AG_RULE_TABLES][AG_OP_COUNT + 1]; /* the rules of an operation stand together in each table */
  uint32_t *rule_hits[AG_RULE_TABLES];                  /* how often each applied: tests see that every one does */
  uint32_t *lowered;                                    /* per node: 0, or 1 + position of its scalars in scalars[] */
  int n_lowered;
  ag_id *scalars;
  int n_scalar, cap_scalar;
  ag_kept_pattern *patterns;
  int n_pattern, cap_pattern;
  ag_origin_of *origins; /* of folded numbers, by ascending id */
  int n_origin, cap_origin;
  ag_scratch **scratch; /* those that nobody uses */
  int n_scratch, cap_scratch;
};

static inline const ag_node *ag_node_at(const ag_graph *g, ag_id x) { return &g->nodes[x]; }
static inline const ag_id *ag_node_args(const ag_graph *g, ag_id x) { return g->pool + g->nodes[x].first; }

/* Takes such room for the nodes that there are, and gives it back, all zero again. */
void *ag_scratch_take(ag_graph *g);
void ag_scratch_give(ag_graph *g, void *at);

/* The number that op(args) was folded to; a new one keeps where it came from (ag_num_origin). */
ag_id ag_num_folded(ag_graph *g, ag_op op, int n, const ag_id *args, double value);
/* Finds or makes the node, without any rule. */
ag_id ag_intern(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload);
/* The same after the rules of simplify.c. */
ag_id ag_build(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload);
/* Tries the rules: the simplified node, or 0 when none applies. */
ag_id ag_simplify(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload);
uint64_t ag_payload(int i, int j);
/* The same operation and payload as x with other arguments (of the same shapes), built anew. */
ag_id ag_rebuild(ag_graph *g, ag_id x, const ag_id *args);
/* The node if it exists already (or the node its request was simplified to), else 0. */
ag_id ag_find(const ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload);

void ag_graph_index(ag_graph *g); /* fills the hash table anew */

/* The table of rules: an operation and a function that gives the simplified node, or 0. */
typedef struct ag_request {
  ag_op op;
  int rows, cols, n;
  const ag_id *a;
  uint64_t payload;
} ag_request;
typedef struct ag_rule {
  uint16_t op;
  ag_id (*apply)(ag_graph *g, const ag_request *r);
  const char *name;
} ag_rule;
/* simplify.c: what op.def says of scalar operations (constants are folded, signs go outside), and products and
 * functions of scalars; simplify_sum.c, simplify_tensor.c, simplify_product.c: the others. Tried in this order. */
const ag_rule *ag_rules_common(int *n);
const ag_rule *ag_rules_scalar(int *n);
const ag_rule *ag_rules_sum(int *n);
const ag_rule *ag_rules_tensor(int *n);
const ag_rule *ag_rules_product(int *n);
const ag_rule *ag_rule_table(int k, int *n);
bool ag_all_num(const ag_graph *g, ag_id x); /* NUM, ZERO, EYE, or STACK of numbers */
bool ag_is_unit(const ag_graph *g, ag_id x); /* e1, e2 or e3 */

/* Marks the cone of the outputs: a heap block of max(outs) + 9 bytes, 1 where outs depend on the node (itself
 * included). *top = max(outs). */
unsigned char *ag_cone(const ag_graph *g, int n_out, const ag_id *outs, ag_id *top);
bool ag_eight_zeros(
    const unsigned char *mark); /* of a cone: to pass over stretches; there are 8 bytes behind its end */

void ag_sort_ids(ag_id *x, size_t n); /* ascending */

/* ---- lowering ----
 * Scalars of a tensor, row-major, rows*cols of them. They consist only of
 *   NUM (payload.num), SLOT (argument 0: the input, payload.at.i: k, the k-th stored number of that input),
 *   the scalar operations NEG ... CHECKNZ of op.def with 1 x 1 arguments,
 *   PICK (argument 0: a CALL_SOLVE or CALL_LDL node, payload.at.i = k): entry k of the solution.
 * CALL_SOLVE is an n x 1 node with n*n + n scalar arguments: A row-major, then b. CALL_LDL (payload.at.i: the pattern)
 * is one with the entries of A in the order of v_ldl's table, then b in the order of elimination; so is its solution.
 * FMA, LOAD and CONST never occur in a graph: they are formed by tape.c. Nothing is scheduled: args have smaller ids,
 * that is all. Memoised. */
void ag_lower(ag_graph *g, ag_id tensor, ag_id *scalars);

/* op(a[0..]) in doubles, as used to fold constants; ops NEG .. FMA. */
double ag_op_value(ag_op op, const double *a);
/* CALL_SOLVE in doubles, in place: A row-major, then b, which becomes x. False when a pivot failed. */
bool ag_solve_value(int n, double *Ab);
/* Lowers A x = b: A n*n scalars, b and x n*m, row-major. */
void ag_lower_solve(ag_graph *g, ag_solve_kind kind, int n, int m, const ag_id *A, const ag_id *b, ag_id *x);
/* The same with the entries and pattern of a SPARSE node. */
void ag_lower_sparse(ag_graph *g, int pattern, const ag_id *entries, const ag_id *b, ag_id *x);

/* ---- sparse systems ---- */
int ag_pattern_intern(ag_graph *g, const ag_pattern *p); /* its number in the graph */
const ag_ldl *ag_pattern_ldl(ag_graph *g, int pattern);
ag_ldl *ag_ldl_copy(const ag_ldl *f);
bool ag_ldl_value(const ag_ldl *f, double *block); /* CALL_LDL in doubles, in place; false when a pivot failed */
#endif
