#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""syntax.py SOURCE [--check]: syntax files for vim and VS Code, made from the tables of the language.

Statements come from words.def, clauses from clause.def and draw.def, functions from function.def and op.def, words inside
statements from the calls of the parser. Without --check the files under editors/ are written; with --check they are
compared, and a difference is reported."""
import json
import os
import re
import sys

FIXED = ["then", "else", "and", "or", "on", "inside", "outside", "transport", "potential"]  # tables inside functions of the parser
CONSTANTS = ["pi", "deg", "e1", "e2", "e3", "energy", "t"]
SPACES = ["R", "S1", "S2", "SO3"]
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


def rows(source, path, pattern):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        return re.findall(pattern, file.read(), re.M)


def unique(words):
    return sorted(set(words))


def tables(source):
    """The words by kind."""
    statements = rows(source, "src/lang/words.def", r"^AG_STATEMENT\((\w+)")
    functions = rows(source, "src/lang/function.def", r'^AG_FUNCTION\("(\w+)"')
    functions += rows(source, "src/expr/op.def", r'^AG_OP\(\w+, *"(\w+)", *\d+, *(?:scalar|extreme)')
    clauses = rows(source, "src/lang/clause.def", r"^AG_CLAUSE\((\w+)") + FIXED
    for path in ("parse.c", "parse_body.c", "parse_expr.c", "parse_draw.c", "parse_expect.c"):
        if os.path.exists(os.path.join(source, "src/lang", path)):
            clauses += rows(source, "src/lang/" + path, r'(?:take_word|is_word|want_word|token_is)\([^"()]*"([a-z]+)"')
    drawn = []
    if "draw" in statements:
        drawn = rows(source, "src/model/draw.def", r"^AG_DRAW\((\w+)")
        clauses += rows(source, "src/model/draw.def", r'^ *AG_DRAW_ARG\(\w+, *"(\w+)"')
    return {"statement": statements, "reserved": rows(source, "src/lang/words.def", r"^AG_RESERVED\((\w+)"),
            "clause": unique(clauses), "drawing": unique(drawn), "function": unique(functions), "constant": CONSTANTS,
            "space": SPACES}


# ---- vim ----

GROUPS = [("clause", "Label"), ("function", "Function"), ("constant", "Constant")]


def vim_match(name, before, words):
    return f'syntax match anagyre{name} "{before}\\%(' + "\\|".join(words) + '\\)\\>"'


def vim(words):
    lines = ['" Syntax of Anagyre model files. Made by tools/syntax.py from the tables of the language.', "",
             'if exists("b:current_syntax")', "  finish", "endif", "",
             "syntax case match",
             'syntax match anagyreComment "#.*$" contains=@Spell',
             'syntax region anagyreString start=+"+ end=+"+ oneline contains=@Spell',
             r'syntax match anagyreNumber "\<\%([0-9]\+\.\?[0-9]*\|\.[0-9]\+\)\%([eE][-+]\?[0-9]\+\)\?\>"']
    for kind, _ in GROUPS:
        lines += wrapped(f"syntax keyword anagyre{kind.capitalize()}", words[kind])
    lines += [vim_match("Statement", "^", words["statement"]), vim_match("Reserved", "^", words["reserved"]),
              vim_match("Space", r"\%(\<in\s\+\)\@<=", words["space"])]
    if words["drawing"]:
        lines.append(vim_match("Drawing", r"\%(^draw\s\+\)\@<=", words["drawing"]))
    lines.append("")
    links = [("Comment", "Comment"), ("String", "String"), ("Number", "Number"), ("Statement", "Statement"),
             ("Reserved", "Error"), ("Space", "Type"), ("Drawing", "Structure")]
    links += [(kind.capitalize(), group) for kind, group in GROUPS]
    lines += [f"highlight default link anagyre{name} {group}" for name, group in links]
    return "\n".join(lines + ["", 'let b:current_syntax = "anagyre"', ""])


def wrapped(head, words, width=110):
    out = [head]
    for word in words:
        if len(out[-1]) + len(word) + 1 > width:
            out.append(r"  \ " + word)
        else:
            out[-1] += " " + word
    return out


# ---- VS Code ----

def choice(words):
    return "|".join(words)


def grammar(words):
    patterns = [("comment.line.number-sign", "#.*$"), ("string.quoted.double", '"[^"]*"'),
                ("keyword.control.statement", rf"^(?:{choice(words['statement'])})\b"),
                ("invalid.illegal.reserved", rf"^(?:{choice(words['reserved'])})\b"),
                ("support.type.space", rf"(?<=\bin )\s*(?:{choice(words['space'])})\b"),
                ("constant.numeric", r"\b" + NUMBER + r"\b")]
    if words["drawing"]:
        patterns.append(("support.class.drawing", rf"(?<=^draw )\s*(?:{choice(words['drawing'])})\b"))
    patterns += [("support.function", rf"\b(?:{choice(words['function'])})(?=\()"),
                 ("constant.language", rf"\b(?:{choice(words['constant'])})\b"),
                 ("keyword.other.clause", rf"\b(?:{choice(words['clause'])})\b"),
                 ("keyword.operator", r"==|!=|<=|>=|\.\.|[-+*/^=<>']")]
    return {"name": "Anagyre", "scopeName": "source.anagyre", "fileTypes": ["nh"],
            "patterns": [{"name": name + ".anagyre", "match": match} for name, match in patterns]}


def package(version):
    return {"name": "anagyre", "displayName": "Anagyre", "description": "Model files of Anagyre", "version": version,
            "publisher": "anagyre", "license": "MIT", "engines": {"vscode": "^1.60.0"},
            "contributes": {
                "languages": [{"id": "anagyre", "aliases": ["Anagyre"], "extensions": [".nh"],
                               "configuration": "./language-configuration.json"}],
                "grammars": [{"language": "anagyre", "scopeName": "source.anagyre",
                              "path": "./syntaxes/anagyre.tmLanguage.json"}]}}


CONFIGURATION = {"comments": {"lineComment": "#"}, "brackets": [["[", "]"], ["(", ")"]],
                 "autoClosingPairs": [["[", "]"], ["(", ")"], ['"', '"']]}


def files(source):
    words = tables(source)
    version = rows(source, "CMakeLists.txt", r"^project\(\w+ VERSION ([\d.]+)")[0]
    dump = lambda x: json.dumps(x, indent=2) + "\n"  # noqa: E731
    return {"vim/syntax/anagyre.vim": vim(words),
            "vim/ftdetect/anagyre.vim": "autocmd BufNewFile,BufRead *.nh setfiletype anagyre\n",
            "vim/ftplugin/anagyre.vim": "setlocal commentstring=#\\ %s comments=:# textwidth=120\n",
            "vscode/package.json": dump(package(version)),
            "vscode/language-configuration.json": dump(CONFIGURATION),
            "vscode/syntaxes/anagyre.tmLanguage.json": dump(grammar(words))}


def main():
    source, check = sys.argv[1], "--check" in sys.argv
    wrong = 0
    for name, text in files(source).items():
        path = os.path.join(source, "editors", name)
        if check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    print(f"editors/{name} is not what tools/syntax.py makes: run it again")
                    wrong = 1
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
