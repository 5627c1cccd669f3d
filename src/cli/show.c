/* SPDX-License-Identifier: MIT
 * `anagyre show`: the model written out, and the equations that were derived from it. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"

typedef struct args {
  ag_common common;
  bool latex;
} args;

static const ag_option options[] = {
    AG_OPTION(args, "latex", FLAG, latex, .doc = "the equations as LaTeX"),
    AG_SET_ROW(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* Each line as a comment of the language (or of LaTeX), so that the whole output can be read back. Headings that are
 * comments already stay as they are. */
static void put_comments(const char *text, char mark, ag_text *out) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (*text != mark) ag_text_char(out, mark);
    if (n && *text != mark) ag_text_char(out, ' ');
    ag_text_strn(out, text, n);
    ag_text_char(out, '\n');
    text += n + (text[n] == '\n');
  }
}

static ag_status act(void *self) {
  const args *a = self;
  ag_status status;
  anagyre_model *m = ag_open_derived(&a->common, &(ag_derive_options){0}, &status);
  if (!m) return status;
  ag_text model = {0}, equations = {0}, out = {0};
  ag_lang_write(ag_api_model(m), &model);
  ag_system_show(ag_api_system(m, &(ag_derive_options){0}), a->latex, &equations);
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", anagyre_name(m));
    ag_json_string(&j, "expanded", ag_text_cstr(&model));
    ag_json_string(&j, a->latex ? "latex" : "equations", ag_text_cstr(&equations));
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else {
    if (a->latex) put_comments(ag_text_cstr(&model), '%', &out), ag_text_str(&out, ag_text_cstr(&equations));
    else {
      ag_text_str(&out, ag_text_cstr(&model));
      ag_text_str(&out, "\n# Derived equations\n");
      put_comments(ag_text_cstr(&equations), '#', &out);
    }
    fputs(ag_text_cstr(&out), stdout);
  }
  ag_text_done(&model);
  ag_text_done(&equations);
  ag_text_done(&out);
  anagyre_close(m);
  return AG_OK;
}

const ag_command ag_command_show = {
    .name = "show",
    .words = "MODEL",
    .doc = "the expanded model and the derived equations, as text or LaTeX",
    .text = "Prints the model with every let and family written out, then the equations derived from it,\n"
            "in the names of the model. The equations are comments of the model language, so what is\n"
            "printed is again a model file with the same meaning. With --latex the equations are LaTeX\n"
            "and the model is the comment.\n",
    .examples = "  anagyre show chaplygin_sleigh\n"
                "  anagyre show my.nh --latex > equations.tex\n",
    AG_COMMAND(1, 1),
};
