/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes are a model file. Reading gives a model or diagnostics, never a crash; a model that was read
 * is written out and read again. Used by libFuzzer (preset fuzz) and by replay.c. */
#include <stdint.h>
#include <string.h>

#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const ag_model *m) {
  ag_text out = {0};
  ag_lang_write(m, &out);
  if (out.n > 1 << 20) { /* sums written out may be longer than a file may be */
    ag_text_done(&out);
    return;
  }
  ag_ctx ctx = {0};
  ag_model *again = NULL;
  ag_status status = ag_lang_read(&ctx, "again.nh", ag_text_cstr(&out), out.n, 0, NULL, &again);
  if (status != AG_OK) {
    ag_text why = {0};
    ag_ctx_render(&ctx, &why);
    fprintf(stderr, "what was written:\n%s\ndoes not parse back:\n%s", ag_text_cstr(&out), ag_text_cstr(&why));
    abort();
  }
  ag_model_free(again);
  ag_ctx_done(&ctx);
  ag_text_done(&out);
}

/* A first line `# --set NAME=VALUE` is a change from outside, as in the corpora. 1 when there is one; its text is to be
 * freed. */
static int find_set(const char *text, ag_set *set) {
  static const char mark[] = "# --set ";
  if (strncmp(text, mark, strlen(mark))) return 0;
  char *line = strdup(text + strlen(mark));
  line[strcspn(line, "\r\n")] = 0;
  char *equals = strchr(line, '=');
  *set = (ag_set){line, equals ? equals + 1 : ""};
  if (equals) *equals = 0;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); /* exact size: reading past the end is seen */
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_set set = {0};
  int n_set = find_set(text, &set);
  ag_status status = ag_lang_read(&ctx, "fuzz.nh", text, size, n_set, &set, &m);
  free((char *)set.name);
  AG_ASSERT((status == AG_OK) == (m != NULL));
  AG_ASSERT((status == AG_OK) == (ctx.n_error == 0));
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  if (m) read_again(m);
  ag_text_done(&out);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  free(text);
  return 0;
}
