// SPDX-License-Identifier: MIT
// The equations of `anagyre show --latex`: headings are its comments, the rest is typeset by KaTeX, which makes elements and
// never reads markup.
import katex from "katex";

export function typeset(latex: string, host: HTMLElement): void {
  let block: string[] = [];
  for (const line of latex.split("\n")) {
    if (block.length || line.startsWith("\\begin")) {
      block.push(line);
      if (line.startsWith("\\end{align")) {
        put(block.join("\n"), host);
        block = [];
      }
    } else if (line.startsWith("%")) {
      const note = document.createElement("h3");
      line.replace(/^%\s*/, "").split("$").forEach((part, i) => putInline(part, i % 2 === 1, note));
      host.append(note);
    }
  }
}

/** A part of a heading: text, or a formula between dollar signs. */
function putInline(part: string, formula: boolean, host: HTMLElement): void {
  const piece = document.createElement("span");
  piece.textContent = part;
  if (formula) {
    try {
      katex.render(part, piece, { throwOnError: true, strict: "ignore", trust: false, maxExpand: 1000 });
    } catch {
      piece.textContent = part;
    }
  }
  host.append(piece);
}

function put(source: string, host: HTMLElement): void {
  const box = document.createElement("div");
  box.className = "equation";
  try {
    katex.render(source, box, { displayMode: true, throwOnError: true, strict: "ignore", trust: false, maxExpand: 1000 });
  } catch {
    box.textContent = source; // as it was written, if KaTeX does not know something
    box.classList.add("plain");
  }
  host.append(box);
}
