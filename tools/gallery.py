#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gallery.py PROGRAM SOURCE FOLDER [MODEL ...]: the gallery of the shipped models.
gallery.py --pack FIGURE.png: a smaller file.

Writes a thumbnail of every model to SOURCE/docs/figures/gallery, the document SOURCE/docs/gallery.md, and to FOLDER the
page index.html with, where `anagyre view` works, a page of every model. With names of models only their thumbnails are
made. With --check nothing is written: the document must be the one that would be, and no thumbnail may be missing or
above 15 KB. What is drawn stands in tools/gallery.txt."""
import collections
import html
import json
import os
import re
import struct
import subprocess
import sys
import zlib

MOST_BYTES = 15360  # of a thumbnail
MOST_LINES = 10     # of equations in the document


def ask(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def rows(source):
    """Model, end of the run, names of what is drawn, options of the run."""
    with open(os.path.join(source, "tools", "gallery.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    def parts(words):
        at = next((i for i, w in enumerate(words) if w.startswith("--")), len(words))
        return words[0], words[1:at], words[at:]
    return {line[0]: parts(line[1:]) for line in lines}


# ---- thumbnails ----

def chunks(data):
    at = 8
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + n]
        at += n + 12


def pixels(data):
    """Width, and the rows of an 8-bit RGB or RGBA picture as lists of (r, g, b)."""
    head = struct.unpack(">IIBBBBB", next(body for kind, body in chunks(data) if kind == b"IHDR"))
    width, height, depth, colour = head[:4]
    if colour == 3:
        return None
    assert depth == 8 and colour in (2, 6), head
    size = 3 if colour == 2 else 4
    raw = zlib.decompress(b"".join(body for kind, body in chunks(data) if kind == b"IDAT"))
    before, out = bytearray(width*size), []
    for y in range(height):
        start = y*(width*size + 1)
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + width*size])
        for i in range(len(line)):
            a = line[i - size] if i >= size else 0
            b, c = before[i], before[i - size] if i >= size else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2*c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b)//2, near)[how]) & 255
        before = line
        out.append([tuple(line[i:i + 3]) for i in range(0, len(line), size)])
    return width, out


def packed(data):
    """The picture with a palette of at most 256 colours: a few kilobytes for lines on white."""
    found = pixels(data)
    if not found:
        return data  # it has a palette already
    width, lines = found
    count = collections.Counter(p for line in lines for p in line)
    # The most common colours are kept as they are; the others, at the edges of lines and letters, become the nearest.
    palette = [p for p, _ in sorted(count.items(), key=lambda x: (-x[1], x[0]))[:256]]
    index = {p: i for i, p in enumerate(palette)}
    for p in count:
        if p not in index:
            index[p] = min(range(len(palette)), key=lambda i: sum((a - b)**2 for a, b in zip(palette[i], p)))
    full = [bytes(p) for p in palette]
    raw = b"".join(b"\0" + bytes(index[p] for p in line) for line in lines)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(lines), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(full)) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def pack(path):
    with open(path, "rb") as file:
        data = packed(file.read())
    with open(path, "wb") as file:
        file.write(data)


def thumbnail(program, name, end, what, how, path):
    words = ["--y", what[0]] if len(what) == 1 else [x for pair in zip(["--x", "--y", "--z"], what) for x in pair]
    ask(program, "plot", name, "--t1", end, *how, *words, "--bare", "--width", "5.4", "--font", "7", "-o", path,
        "--quiet")
    pack(path)


# ---- texts ----

def equations(program, name):
    """The equations of motion as `show` prints them, or a line that says where they are."""
    text = ask(program, "show", name)
    found = re.search(r"^# equations of motion.*\n((?:#   .*\n)+)", text, re.M)
    lines = [line[4:] for line in found.group(1).splitlines()] if found else []
    names = re.search(r"\b(k\d+|[pX]_\w+)", " ".join(lines))  # that other lines define
    if not lines or len(lines) > MOST_LINES or max(map(len, lines)) > 112 or names:
        return [f"(the equations are long: `anagyre show {name}` prints them)"]
    return lines


def document(models, program):
    out = ["# Gallery", "", "The shipped models, each with a motion and its equations. `make figures` makes this page.",
           "[models.md](models.md) says where they come from and what is checked."]
    for name, title in models:
        lines = equations(program, name)
        long = lines[0].startswith("(")
        out += ["", f"## {name}", "", f"![{name}](figures/gallery/{name}.png)", "", title + ".", ""]
        out += [lines[0][1:-1].capitalize() + "."] if long else ["    " + line for line in lines]
        out += ["", f"[models/{name}.nh](../models/{name}.nh)"]
    return "\n".join(out) + "\n"


def page(models, program, folder, source, viewed):
    cards = []
    for name, title in models:
        link = f'<a href="{name}.html">' if viewed else f'<a href="{name}.txt">'
        picture = os.path.relpath(os.path.join(source, "docs", "figures", "gallery", name + ".png"), folder)
        text = html.escape("\n".join(equations(program, name)).replace("`", ""))
        cards.append(f'<figure>{link}<img src="{picture}" alt="{name}"></a><figcaption><b>{name}</b> '
                     f"{html.escape(title)}<pre>{text}</pre></figcaption></figure>")
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
            file.write(ask(program, "show", name))
    style = ("body{font:15px sans-serif;margin:2em;background:#fff;color:#222}main{display:grid;gap:1.5em;"
             "grid-template-columns:repeat(auto-fill,minmax(320px,1fr))}figure{margin:0}img{max-width:100%}"
             "pre{overflow:auto;font-size:12px}@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}"
             "img{background:#fff}}")
    return ("<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>Anagyre: gallery</title><style>{style}</style><h1>Gallery</h1><main>" + "\n".join(cards) + "</main></html>\n")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def check(models, program, source):
    wrong = [f"tools/gallery.txt has no row for {name}" for name, _ in models if name not in rows(source)]
    for name, _ in models:
        path = os.path.join(source, "docs", "figures", "gallery", name + ".png")
        size = os.path.getsize(path) if os.path.exists(path) else 0
        if not 0 < size <= MOST_BYTES:
            wrong.append(f"{path}: {size} bytes")
    with open(os.path.join(source, "docs", "gallery.md"), encoding="utf-8") as file:
        if file.read() != document(models, program):
            wrong.append("docs/gallery.md is not what tools/gallery.py makes: run `make figures`")
    print("\n".join(wrong) or f"{len(models)} models")
    return len(wrong) > 0


def main():
    words = [w for w in sys.argv[1:] if w != "--check"]
    if words[0] == "--pack":
        pack(words[1])
        return 0
    program, source, folder, chosen = os.path.abspath(words[0]), words[1], words[2], words[3:]
    models = [(m["name"], m["title"]) for m in json.loads(ask(program, "list", "models", "--json"))["models"]]
    if "--check" in sys.argv:
        return check(models, program, source)
    os.makedirs(os.path.join(source, "docs", "figures", "gallery"), exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    for name, (end, what, how) in rows(source).items():
        if not chosen or name in chosen:
            thumbnail(program, name, end, what, how, os.path.join(source, "docs", "figures", "gallery", name + ".png"))
    if chosen:
        return 0
    write(os.path.join(source, "docs", "gallery.md"), document(models, program))
    # without Node.js the program is built without the page, and says so
    viewed = subprocess.run([program, "view", models[0][0], "--t1", "1", "-o", os.path.join(folder, models[0][0] + ".html"),
                             "--quiet"], capture_output=True, check=False).returncode == 0
    for name, (end, _, how) in rows(source).items() if viewed else ():
        ask(program, "view", name, "--t1", end, *how, "-o", os.path.join(folder, name + ".html"), "--quiet")
    write(os.path.join(folder, "index.html"), page(models, program, folder, source, viewed))
    print(os.path.join(folder, "index.html"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
