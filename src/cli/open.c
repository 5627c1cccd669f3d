/* SPDX-License-Identifier: MIT */
#include "cli/open.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/output.h"

anagyre_model *ag_open(const char *word, const ag_changes *changes) {
  anagyre_model *m = strcmp(word, "-") ? anagyre_open(word) : ag_api_open_stream("<stdin>", STDIN_FILENO);
  for (int i = 0; i < changes->n_set; i++) anagyre_set(m, changes->sets[i].name, changes->sets[i].value);
  anagyre_end_at(m, changes->end_at);
  anagyre_drive(m, changes->drivers);
  return m;
}

void ag_open_report(const ag_ctx *ctx, bool quiet) {
  ag_text out = {0};
  ag_ctx_render_from(ctx, quiet ? AG_WARNING : AG_NOTE, &out);
  fputs(ag_text_cstr(&out), stderr);
  ag_text_done(&out);
}

ag_status ag_open_fail(anagyre_model *m, const ag_ctx *ctx, ag_status status, const ag_common *common) {
  const char *first = NULL;
  for (int i = 0; i < ctx->n_diag && !first; i++)
    if (ctx->diags[i].severity == AG_ERROR) first = ctx->diags[i].message;
  ag_open_report(ctx, common->quiet);
  if (!first) {
    first = "the command failed and gave no reason: this is a mistake in anagyre";
    ag_output_tell("error: %s", first);
  }
  if (common->json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", ag_api_model(m) ? anagyre_name(m) : common->n_word ? common->words[0] : NULL);
    ag_json_string(&j, "error", first);
    ag_json_diagnostics(&j, ctx);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  }
  return status;
}

ag_status ag_open_refuse(anagyre_model *m, const ag_ctx *ctx, ag_status status, const ag_common *common) {
  (void)ag_open_fail(m, ctx, status, common);
  anagyre_close(m);
  return status;
}

anagyre_model *ag_open_derived(const ag_common *common, const ag_derive_options *o, ag_status *status) {
  anagyre_model *m = ag_open(common->words[0], &common->changes);
  *status = AG_OK;
  if (ag_api_system(m, o)) {
    ag_open_report(ag_api_ctx(m), common->quiet);
    return m;
  }
  *status = ag_open_refuse(m, ag_api_ctx(m), ag_api_status(m), common);
  return NULL;
}
