/* SPDX-License-Identifier: MIT
 * Foreign text in generated text. Titles, names and paths come from files that others wrote; each of these functions
 * appends such a text to one kind of output so that it stays text there. All of them keep readable UTF-8 and replace
 * what a terminal or an editor obeys: control characters (C0, DEL, C1), line and paragraph separators, marks that
 * change the direction of writing, and bytes that are not UTF-8. Used by status.c, run/emit.c and cli/. */
#ifndef AG_BASE_ESCAPE_H
#define AG_BASE_ESCAPE_H
#include <stdbool.h>

#include "base/text.h"

/* Length of the UTF-8 character at s (n bytes left), 0 if invalid. Overlong forms and surrogates are invalid. */
size_t ag_utf8_length(const char *s, size_t n);
/* Is the character of that length a control character or a mark of direction, as listed above? */
bool ag_utf8_controls(const char *s, size_t length);

void ag_escape_plain(ag_text *out, const char *s);     /* one line of a terminal: \n, \x1b, \u202e, \xff */
void ag_escape_lines(ag_text *out, const char *s);     /* the same for several lines: \n and tabs are kept */
void ag_escape_c_comment(ag_text *out, const char *s); /* inside a C comment: neither ends it nor splices lines */
void ag_escape_c_string(ag_text *out, const char *s);  /* inside "..." of C */
void ag_escape_latex(ag_text *out, const char *s);     /* ordinary text of LaTeX */
void ag_escape_html(ag_text *out, const char *s);      /* text of HTML, or an attribute in quotes */
void ag_escape_gnuplot(ag_text *out, const char *s);   /* inside '...' of gnuplot, without enhanced text */
void ag_escape_json(ag_text *out, const char *s);      /* inside "..." of JSON; U+FFFD for bytes that are not UTF-8 */
#endif
