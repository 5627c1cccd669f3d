/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes are a model file; of a model that can be derived the emitted C is split as a compiler does it.
 * Comments and strings end where they should, and outside them stand only identifiers, numbers and operators. */
#include <ctype.h>
#include <string.h>

#include "lang/lang.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_VELOCITIES = 12, MAX_NODES = 3000 };

/* Behind the comment or the string that begins at s. */
static const char *skip(const char *s) {
  if (*s == '/') {
    const char *end = strstr(s + 2, "*/");
    AG_ASSERT(end);
    const char *again = strstr(s + 2, "/*");
    AG_ASSERT(!again || again > end);
    return end + 2;
  }
  for (s++; *s != '"'; s++) {
    AG_ASSERT(*s && *s != '\n');
    if (*s == '\\') AG_ASSERT(*++s);
  }
  return s + 1;
}

static void check_tokens(const char *s) {
  int depth = 0;
  AG_ASSERT(!strstr(s, "?\?"));
  while (*s) {
    if (!strncmp(s, "/*", 2) || *s == '"') {
      s = skip(s);
      continue;
    }
    AG_ASSERT((unsigned char)*s < 0x80 && (isprint((unsigned char)*s) || *s == '\n'));
    AG_ASSERT(isalnum((unsigned char)*s) || strchr(" \n_+-*/%=<>!&|^~?:;,.(){}[]#'\\", *s));
    if (*s == '\\') AG_ASSERT(s[1] == '\n' || s[-1] == '\''); /* macros of several lines, '\n' */
    depth += (*s == '{') - (*s == '}');
    AG_ASSERT(depth >= 0);
    s++;
  }
  AG_ASSERT(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_system *sys = NULL;
  if (ag_lang_read(&ctx, "fuzz.nh", text, size, 0, NULL, &m) == AG_OK) {
    int n = 0;
    for (int i = 0; i < ag_model_n_coords(m); i++) n += ag_model_coords(m)[i].dim;
    if (n <= MAX_VELOCITIES && ag_graph_count(ag_model_graph(m)) <= MAX_NODES)
      AG_ASSERT((ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK) == (sys != NULL));
  }
  if (sys) {
    ag_text out = {0};
    ag_emit(sys, true, &out);
    check_tokens(ag_text_cstr(&out));
    ag_text_done(&out);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  free(text);
  return 0;
}
