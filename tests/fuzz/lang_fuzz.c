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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); /* exact size: reading past the end is seen */
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_status status = ag_lang_read(&ctx, "fuzz.nh", text, size, 0, NULL, &m);
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
