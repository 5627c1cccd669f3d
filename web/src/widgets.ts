// SPDX-License-Identifier: MIT
// Buttons and their signs. Texts are set as text, never as markup.

export function element(tag: string, attributes: Record<string, string>): HTMLElement {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
}

function icon(...paths: string[]): () => SVGElement {
  return () => {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    for (const d of paths) {
      const p = document.createElementNS(ns, "path");
      p.setAttribute("d", d);
      svg.append(p);
    }
    return svg;
  };
}

export const icons = {
  play: icon("M7 4.5v15l12.5-7.5z"),
  pause: icon("M6.5 5h3.6v14H6.5zM13.9 5h3.6v14h-3.6z"),
  previous: icon("M6 5h2.4v14H6zM20 5v14L9.5 12z"),
  next: icon("M15.600 5h2.4v14h-2.4zM4 5v14l10.500-7z"),
  frame: icon("M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z"),
  top: icon("M12 3 4 11h5v10h6V11h5z"),
  camera: icon("M9 4 7.500 6H3v14h18V6h-4.500L15 4zM12 8.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z"),
  video: icon("M3 6h12v12H3zM16.500 10.500 21 7v10l-4.500-3.500z"),
  dark: icon("M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18v-2a7 7 0 0 0 0-14z"),
  info: icon("M11 10h2.4v8H11zM11 6h2.4v2.400H11zM12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16z"),
};

export function button(sign: () => SVGElement, title: string, act: () => void): HTMLButtonElement {
  const b = element("button", { type: "button", title, "aria-label": title, class: "icon" }) as HTMLButtonElement;
  b.append(sign());
  b.addEventListener("click", act);
  return b;
}

export function toggle(label: string, title: string, on: boolean, act: (on: boolean) => void): HTMLButtonElement {
  const b = element("button", { type: "button", title, class: "toggle", "aria-pressed": String(on) }) as HTMLButtonElement;
  b.textContent = label;
  b.addEventListener("click", () => {
    const next = b.getAttribute("aria-pressed") !== "true";
    b.setAttribute("aria-pressed", String(next));
    act(next);
  });
  return b;
}
