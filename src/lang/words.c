/* SPDX-License-Identifier: MIT
 * The keywords of statements. */
#include <string.h>

#include "lang/parse.h"

static const char *const all_words[] = {
#define AG_STATEMENT(word, NAME, loops) #word,
#define AG_RESERVED(word) #word,
#include "lang/words.def"
#undef AG_STATEMENT
#undef AG_RESERVED
};

int ag_parse_words(const char *const **words, int *n_live) {
  *words = all_words;
  *n_live = AG_WORD_COUNT - 1;
  return (int)(sizeof all_words / sizeof *all_words);
}

const char *ag_parse_word(ag_word word) { return word > AG_WORD_NONE ? all_words[word - 1] : ""; }

const char *ag_parse_meant(const char *word) {
  static const char *const words[][2] = {
      {"coordinate", "config"},      {"coordinates", "config"}, {"variable", "config"},     {"variables", "config"},
      {"parameter", "param"},        {"parameters", "param"},   {"constant", "param"},      {"constants", "param"},
      {"constraints", "constraint"}, {"initial", "start"},      {"output", "observable"},   {"outputs", "observable"},
      {"system", "model"},           {"kinetic", "lagrangian"}, {"potential", "lagrangian"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(word, words[i][0])) return words[i][1];
  return NULL;
}
