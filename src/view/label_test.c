/* SPDX-License-Identifier: MIT
 * Names as labels; whatever a name holds, it stays inside its quotes. */
#include "view/view_internal.h"

#include "tests/check.h"

static const struct {
  const char *name, *enhanced, *plain;
} cases[] = {
    {"spin", "spin", "spin"},
    {"Omega[1]", "Ω_{1}", "Ω₁"},
    {"x'[2]", "{/:Italic x}′_{2}", "x′₂"},
    {"R[1,3]", "{/:Italic R}_{1,3}", "R₁,₃"},
    {"theta", "{/:Italic θ}", "θ"},
    {"th", "th", "th"},
    {"theta0", "{/:Italic θ}_{0}", "θ₀"},
    {"I1", "{/:Italic I}_{1}", "I₁"},
    {"step2", "step2", "step2"},
    {"Omega[1:2]", "Ω_{1, 2}", "Ω₁,₂"},
    {"x[2][1]", "{/:Italic x}_{2,1}", "x₂,₁"},
    {"Omega[1:3]", "Ω_{1…3}", "Ω₁…₃"},
    {"ball.Omega", "ball.Ω", "ball.Ω"},
    {"x_max", "{/:Italic x}_{max}", "x_max"},
    {"g_phi", "{/:Italic g}_{{/:Italic φ}}", "g_φ"},
    {"angular_momentum", "angular momentum", "angular momentum"},
    {"p_x1'", "{/:Italic p}_{x1}′", "p_x₁′"},
    {"a_long_name", "{/:Italic a} long name", "a long name"},
    {"last_", "last\\_", "last_"},
    {"a__b", "{/:Italic a}\\_\\_{/:Italic b}", "a__b"},
    {"up_2", "up 2", "up 2"},
    {"start x", "start {/:Italic x}", "start x"},
    {"v_x", "{/:Italic v}_{{/:Italic x}}", "v_x"},
    {"größe", "größe", "größe"},
    {"2d", "2d", "2d"},
    {"a{b}^c\\d@e", "{/:Italic a}\\{{/:Italic b}\\}\\^{/:Italic c}\\\\{/:Italic d}\\@{/:Italic e}", "a{b}^c\\d@e"},
    {"", "", ""},
};

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_text enhanced = {0}, plain = {0};
    ag_label_enhanced(cases[i].name, &enhanced);
    ag_label_plain(cases[i].name, &plain);
    AG_CHECK_STR(ag_text_cstr(&enhanced), cases[i].enhanced);
    AG_CHECK_STR(ag_text_cstr(&plain), cases[i].plain);
    ag_text_done(&enhanced);
    ag_text_done(&plain);
  }
  static const char *const units[][3] = {{"m/s^2", "m/s^{2}", "m/s²"},
                                         {"s^-1", "s^{−1}", "s⁻¹"},
                                         {"rad", "rad", "rad"},
                                         {"kg m^2", "kg m^{2}", "kg m²"},
                                         {"a^b'", "a\\^b′", "a^b'"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    ag_text enhanced = {0}, plain = {0};
    ag_unit_enhanced(units[i][0], &enhanced);
    ag_unit_plain(units[i][0], &plain);
    AG_CHECK_STR(ag_text_cstr(&enhanced), units[i][1]);
    AG_CHECK_STR(ag_text_cstr(&plain), units[i][2]);
    ag_text_done(&enhanced);
    ag_text_done(&plain);
  }
  static const struct {
    double v;
    int digits;
    const char *text;
  } numbers[] = {{-0.5, 6, "−0.5"}, {3.26e-12, 2, "3.3×10⁻¹²"}, {1e20, 6, "10²⁰"}, {-1e-6, 6, "−10⁻⁶"}, {0, 2, "0"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    ag_text text = {0};
    ag_number_plain(numbers[i].v, numbers[i].digits, &text);
    AG_CHECK_STR(ag_text_cstr(&text), numbers[i].text);
    ag_text_done(&text);
  }
  ag_text about = {0};
  ag_about_enhanced("m = 1, ξ₁ = 0.1, spin0 = 2, a_b = 3; Ω = 1, x′ = 2, energy drift 10⁻⁶ 'e = 1", &about);
  AG_CHECK_STR(about.s,
               "{/:Italic m} = 1, {/:Italic ξ}₁ = 0.1, spin0 = 2, a\\_b = 3; Ω = 1, {/:Italic x}′ = 2, energy drift "
               "10⁻⁶ ’e = 1");
  ag_text_done(&about);
  ag_text line = {0};
  ag_label_enhanced("a'; system 'x'\n", &line);
  AG_CHECK(!strchr(line.s, '\'') && !strchr(line.s, '\n'));
  ag_text_done(&line);
  return ag_check_report();
}
