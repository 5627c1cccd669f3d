/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include "check.h"

int main(void) {
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "a\"b", "x\ny\t\x01");
  ag_json_string(&j, "none", NULL);
  ag_json_number(&j, "tenth", 0.1);
  ag_json_number(&j, "nan", NAN);
  ag_json_whole(&j, "n", -3);
  ag_json_bool(&j, "yes", true);
  ag_json_begin(&j, "empty", '[');
  ag_json_end(&j, ']');
  ag_json_tensor(&j, "s", 1, 1, (double[]){2});
  ag_json_tensor(&j, "v", 2, 1, (double[]){1, 2});
  ag_json_tensor(&j, "m", 2, 2, (double[]){1, 2, 3, 4});
  ag_json_end(&j, '}');
  AG_CHECK_STR(j.text.s, "{\"a\\\"b\":\"x\\ny\\u0009\\u0001\",\"none\":null,\"tenth\":0.1,\"nan\":null,\"n\":-3,"
                         "\"yes\":true,\"empty\":[],\"s\":2,\"v\":[1,2],\"m\":[[1,2],[3,4]]}");
  ag_text_done(&j.text);

  /* good UTF-8 stays, anything else becomes U+FFFD */
  static const char *const strings[][2] = {
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
      {"a\xff", "\"a\xef\xbf\xbd\""},
      {"\xc3", "\"\xef\xbf\xbd\""},
      {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
  };
  for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
    ag_json k = {0};
    ag_json_string(&k, NULL, strings[i][0]);
    AG_CHECK_STR(k.text.s, strings[i][1]);
    ag_text_done(&k.text);
  }

  ag_ctx ctx = {.file = "m.nh", .source = "abc\n"};
  ag_ctx_error(&ctx, ((ag_pos){1, 2, 1}), "no");
  ag_ctx_note(&ctx, ((ag_pos){0}), "well");
  ag_json d = {0};
  ag_json_begin(&d, NULL, '{');
  ag_json_diagnostics(&d, &ctx);
  ag_json_end(&d, '}');
  AG_CHECK_STR(
      d.text.s,
      "{\"diagnostics\":[{\"severity\":\"error\",\"message\":\"no\",\"file\":\"m.nh\",\"line\":1,\"column\":2},"
      "{\"severity\":\"note\",\"message\":\"well\",\"file\":\"m.nh\"}]}");
  ag_text_done(&d.text);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
