/* SPDX-License-Identifier: MIT
 * Smooth functions of t in place of the noise. */
#include <string.h>

#include "api/api_internal.h"
#include "lang/lang.h"
#include "model/model.h"

/* The channel named before the `=` of a line, or -1: reported. */
static int channel_of(ag_ctx *ctx, const ag_model *m, const char *line, size_t n) {
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(ag_model_n_channels(m) + 1));
  char *name = ag_api_copy(line);
  name[n] = 0;
  int found = -1;
  for (int i = 0; i < ag_model_n_channels(m); i++) {
    names[i] = ag_model_channels(m)[i].name;
    if (!strcmp(names[i], name)) found = i;
  }
  const char *near = found < 0 ? ag_nearest(name, ag_model_n_channels(m), names) : NULL;
  if (near) ag_ctx_error(ctx, ag_api_nowhere, "--driver: there is no process `%s`; did you mean `%s`?", name, near);
  else if (found < 0) ag_ctx_error(ctx, ag_api_nowhere, "--driver: the model has no process `%s`", name);
  free(names);
  free(name);
  return found;
}

static ag_status drive(ag_ctx *ctx, ag_model *m, const char *line, ag_id *functions) {
  line += strspn(line, " ");
  const char *equals = strchr(line, '=');
  if (!equals) {
    ag_ctx_error(ctx, ag_api_nowhere, "--driver %s: write it as PROCESS=FUNCTION, such as W=0.5*sin(3*t)", line);
    return AG_WRONG;
  }
  int channel = channel_of(ctx, m, line, (size_t)(equals - line));
  ag_id x = 0;
  if (channel < 0) return AG_WRONG;
  AG_TRY(ag_lang_of_coordinates(ctx, m, "--driver", line, (size_t)(equals - line) + 1, &x));
  for (int i = 0; i < ag_model_n_coords(m); i++)
    if (ag_depends(ag_model_nodes(m), 1, &x, 1, &ag_model_coords(m)[i].q)) {
      ag_ctx_error(ctx, ag_api_nowhere, "--driver %s: the function depends on t and parameters alone", line);
      return AG_WRONG;
    }
  functions[channel] = x;
  return AG_OK;
}

ag_status ag_api_drive(ag_ctx *ctx, ag_model *m, const char *drivers) {
  if (!drivers) return AG_OK;
  char *list = ag_api_copy(drivers), *rest = list;
  ag_id *functions = ag_heap_alloc(sizeof *functions * (size_t)(ag_model_n_channels(m) + 1));
  ag_status status = AG_OK;
  for (char *line; status == AG_OK && rest && (line = strsep(&rest, ";"));)
    if (line[strspn(line, " ")]) status = drive(ctx, m, line, functions);
  for (int i = 0; i < ag_model_n_channels(m) && status == AG_OK; i++) {
    if (functions[i]) ag_model_add_driver(m, ag_model_channels(m)[i].name, functions[i]);
    else {
      ag_ctx_error(ctx, ag_api_nowhere, "--driver: the process `%s` has no function; 0 leaves it out",
                   ag_model_channels(m)[i].name);
      status = AG_WRONG;
    }
  }
  free(functions);
  free(list);
  return status;
}
