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
      note.textContent = line.replace(/^%\s*/, "");
      host.append(note);
    }
  }
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
