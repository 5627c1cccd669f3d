/* SPDX-License-Identifier: MIT
 * Foreign text: each escape keeps readable text, and random bytes never leave the place they were put in. */
#include "base/escape.h"

#include <stdint.h>

#include "check.h"

typedef void escape_function(ag_text *out, const char *s);

static const struct {
  escape_function *escape;
  const char *is, *becomes;
} cases[] = {
    {ag_escape_plain, "a\x1b[31mb\n\t\x7f", "a\\x1b[31mb\\n\\t\\x7f"},
    {ag_escape_plain, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {ag_escape_plain, "\xc2\x9b\xe2\x80\xae\xff", "\\u009b\\u202e\\xff"}, /* C1, right-to-left override, no UTF-8 */
    {ag_escape_plain, "\xf3\xa0\x80\x81\xc3", "\\U000e0001\\xc3"},        /* a tag; cut off */
    {ag_escape_plain, "C:\\x", "C:\\x"},
    {ag_escape_lines, "a\n\tb\x07", "a\n\tb\\x07"},
    {ag_escape_c_comment, "*/ x /*", "* / x / *"},
    {ag_escape_c_comment, "/*/*/", "/ * / * /"},
    {ag_escape_c_comment, "*\?\?/\n", "*? ?/<U+000A>"},
    {ag_escape_c_comment, "\\", "\\."},
    {ag_escape_c_comment, "\xff", "<0xff>"},
    {ag_escape_c_string, "\"\\\?\?/\n1", "\\\"\\\\\\?\\?/\\0121"},
    {ag_escape_latex, "50% of {x_1}\\input^2", "50\\% of \\{x\\_1\\}\\textbackslash{}input\\textasciicircum{}2"},
    {ag_escape_latex, "\n", "\\textless{}U+000A\\textgreater{}"},
    {ag_escape_html, "<b a='1'>&\"", "&lt;b a=&#39;1&#39;&gt;&amp;&quot;"},
    {ag_escape_html, "\x01", "&lt;U+0001&gt;"},
    {ag_escape_gnuplot, "it's `ls` \n", "it''s `ls` <U+000A>"},
    {ag_escape_json, "a\"b\\c\nd\x01\x7f\xe2\x80\xae\xff", "a\\\"b\\\\c\\nd\\u0001\\u007f\\u202e\xef\xbf\xbd"},
    {ag_escape_json, "\xf3\xa0\x80\x81", "\\udb40\\udc01"},
};

static bool has(const char *s, const char *what) { return strstr(s, what) != NULL; }

/* Does `text` leave the place it was put in? */
static bool leaves(escape_function *escape, const char *text) {
  for (const char *s = text; *s; s++) /* one line, whatever happens */
    if (((unsigned char)*s < 0x20 || *s == 0x7f) && escape != ag_escape_lines) return true;
  if (escape == ag_escape_c_comment)
    return has(text, "*/") || has(text, "/*") || has(text, "??") || (*text && text[strlen(text) - 1] == '\\');
  if (escape == ag_escape_html) return strpbrk(text, "<>\"'`") != NULL;
  if (escape == ag_escape_c_string || escape == ag_escape_json) {
    for (const char *s = text; *s; s++) {
      if (*s == '"') return true;
      if (*s == '\\' && !*++s) return true;
    }
  }
  if (escape == ag_escape_gnuplot)
    for (const char *s = text; *s; s++)
      if (*s == '\'' && *++s != '\'') return true;
  if (escape == ag_escape_latex)
    for (const char *s = text; *s; s++) {
      if (*s == '\\' && s[1] && strchr("{}$&#_%", s[1])) s++;
      else if (strchr("$&#_%^~", *s)) return true;
    }
  return false;
}

static void random_bytes(void) {
  static const char likely[] = "*/?\\\"'`<>&{}$#_%^~|\n\r\x1b\xc2\x9b\xe2\x80\xae\xff a1";
  static escape_function *const all[] = {ag_escape_plain, ag_escape_lines, ag_escape_c_comment, ag_escape_c_string,
                                         ag_escape_latex, ag_escape_html,  ag_escape_gnuplot,   ag_escape_json};
  uint64_t state = 88172645463325252u;
  ag_text out = {0};
  int escaped = 0;
  for (int i = 0; i < 20000; i++) {
    char s[9] = {0};
    for (int k = 0; k < 8; k++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      s[k] = state & 256 ? (char)(state >> 32) : likely[(state >> 32) % (sizeof likely - 1)];
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      ag_text_clear(&out);
      all[k](&out, s);
      escaped += leaves(all[k], ag_text_cstr(&out));
      for (size_t at = 0, n; at < out.n; at += n) { /* always UTF-8, never a control character */
        n = ag_utf8_length(out.s + at, out.n - at);
        escaped += !n || (ag_utf8_controls(out.s + at, n) && all[k] != ag_escape_lines);
        n = n ? n : 1;
      }
    }
  }
  AG_CHECK(escaped == 0);
  ag_text_done(&out);
}

int main(void) {
  ag_text out = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_text_clear(&out);
    cases[i].escape(&out, cases[i].is);
    AG_CHECK_STR(ag_text_cstr(&out), cases[i].becomes);
  }
  AG_CHECK(ag_utf8_length("\xc3\xa9", 1) == 0 && ag_utf8_length("\xc3\xa9", 2) == 2 && ag_utf8_length("", 0) == 0);
  ag_text_done(&out);
  random_bytes();
  return ag_check_report();
}
