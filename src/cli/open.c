/* SPDX-License-Identifier: MIT */
#include "cli/open.h"

#include <stdio.h>

#include "cli/json.h"

void ag_source_report(const ag_source *s, bool quiet) {
  if (quiet && !s->ctx.n_error) return;
  ag_text out = {0};
  ag_ctx_render(&s->ctx, &out);
  fputs(ag_text_cstr(&out), stderr);
  ag_text_done(&out);
}

ag_status ag_source_refuse(ag_source *s, ag_status status, const ag_common *common) {
  ag_source_report(s, common->quiet);
  if (common->json) {
    const char *first = NULL;
    for (int i = 0; i < s->ctx.n_diag && !first; i++)
      if (s->ctx.diags[i].severity == AG_ERROR) first = s->ctx.diags[i].message;
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", s->model ? s->model->name : s->word);
    ag_json_string(&j, "error", first);
    ag_json_diagnostics(&j, &s->ctx);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  }
  ag_source_done(s);
  return status;
}

ag_status ag_source_open(ag_source *s, const ag_common *common) {
  ag_status status = ag_source_load(s, common->words[0], &common->changes, &(ag_derive_options){0});
  if (status != AG_OK) return ag_source_refuse(s, status, common);
  ag_source_report(s, common->quiet);
  return AG_OK;
}
