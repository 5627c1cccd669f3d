// SPDX-License-Identifier: MIT
// Panels with the observables over time, one below the other. Time can be dragged in any of them.
import uPlot from "uplot";
import { at, drawingTimes, type Mark, type Panel, type Run, type Series } from "./data";
import type { Theme } from "./theme";

/** A panel before its curves are drawn. */
interface Box {
  panel: Panel;
  box: HTMLElement;
  values: HTMLElement;
  body: HTMLElement;
}

interface Open extends Box {
  cursor: HTMLElement;
  plot: uPlot;
}

const height = 110;

const subscripts = "₀₁₂₃₄₅₆₇₈₉";

export function short(x: number): string {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e5)) return power(x.toExponential(3));
  return x.toPrecision(5).replace("-", "−");
}

export class Plots {
  private readonly open: Open[] = [];
  private waiting: Box[];
  private theme: Theme;
  private time: number;
  private width = 0;
  private readonly quiet: number; // what stays below it is 0

  constructor(
    private readonly host: HTMLElement,
    private readonly runs: Run[],
    theme: Theme,
    private readonly seek: (t: number) => void,
  ) {
    this.theme = theme;
    this.time = runs[0].from;
    this.quiet = Math.min(...runs.map((r) => r.quiet));
    this.waiting = runs[0].panels.filter((p) => p.main).map((p) => this.makeBox(p));
  }

  /** Draws the curves of the panels that have waited: the picture comes first. */
  fill(): void {
    const boxes = this.waiting;
    this.waiting = [];
    for (const box of boxes) this.add(box);
    this.redraw();
  }

  has(panel: Panel): boolean {
    return this.open.some((o) => o.panel === panel);
  }

  toggle(panel: Panel, on: boolean): void {
    if (this.waiting.length) this.fill();
    if (on === this.has(panel)) return;
    if (on) this.add(this.makeBox(panel));
    else {
      const i = this.open.findIndex((o) => o.panel === panel);
      this.open[i].plot.destroy();
      this.open[i].box.remove();
      this.open.splice(i, 1);
    }
    this.redraw();
  }

  private data(panel: Panel): { data: uPlot.AlignedData; series: uPlot.Series[] } {
    const parts: { t: number[]; y: (number | null)[][] }[] = [];
    const series: uPlot.Series[] = [{}];
    const cloud = this.runs.length > 2;
    this.runs.forEach((run, k) => {
      const same = k ? run.panels.find((p) => p.name === panel.name) : panel;
      if (!same) return;
      const t = drawingTimes(same.entries, run.from, run.to, 30000);
      parts.push({ t, y: same.entries.map((e) => turned(e, t, t.map((x) => at(e, x)))) });
      same.entries.forEach((_, i) =>
        series.push({
          label: `${i}`,
          stroke: () => this.theme.curve(i),
          width: k ? 1 : 1.6,
          dash: k && !cloud ? [5, 4] : undefined,
          alpha: !k ? 1 : cloud ? 0.45 : 0.8,
          points: { show: false },
          spanGaps: k > 0 || this.runs.length > 1,
        }),
      );
    });
    if (parts.length === 1) return { data: [parts[0].t, ...parts[0].y] as uPlot.AlignedData, series };
    // Runs have different times: each has values at its own, and lines pass over the times of the others.
    const all = [...new Set(parts.flatMap((p) => p.t))].sort((a, b) => a - b);
    const place = new Map(all.map((t, i) => [t, i]));
    const columns: (number | null | undefined)[][] = [];
    for (const part of parts)
      for (const y of part.y) {
        const column: (number | null | undefined)[] = new Array<number | null | undefined>(all.length).fill(undefined);
        part.t.forEach((t, i) => (column[place.get(t)!] = y[i]));
        columns.push(column);
      }
    return { data: [all, ...columns] as uPlot.AlignedData, series };
  }

  private makeBox(panel: Panel): Box {
    const box = document.createElement("div");
    box.className = "panel";
    const head = document.createElement("div");
    head.className = "panel-head";
    const label = document.createElement("span");
    label.className = "panel-label";
    label.textContent = panel.label;
    const values = document.createElement("span");
    values.className = "panel-values";
    head.append(label, values);
    const body = document.createElement("div");
    body.className = "panel-body";
    body.style.minHeight = `${height}px`;
    box.append(head, body);
    this.host.append(box);
    panel.entries.forEach(() => values.append(document.createElement("span")));
    return { panel, box, values, body };
  }

  private add(made: Box): void {
    const { panel, body } = made;
    const { data, series } = this.data(panel);
    const from = Math.min(...this.runs.map((r) => r.from));
    const to = Math.max(...this.runs.map((r) => r.to));
    const quiet = this.quiet;
    const axis = { stroke: () => this.theme.text, font: "11px system-ui, sans-serif", grid: { stroke: () => this.theme.grid, width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: Math.max(200, this.host.clientWidth - 16),
        height,
        pxAlign: false,
        padding: [6, 22, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, range: () => [from, to] }, y: { range: (u, lo, hi) => padded(lo, hi, quiet, this.hasNames(u)) } },
        axes: [
          { ...axis, size: 22, gap: 3 },
          { ...axis, size: 62, gap: 4, splits: (_u, _i, lo, hi) => numbers(lo, hi), values: (_u, v) => v.map(tick) },
        ],
        series,
        hooks: { ready: [() => this.move(this.time)], draw: [(u) => this.drawMarks(u, this.runs[0].marks)] },
      },
      data,
      body,
    );
    const cursor = document.createElement("div");
    cursor.className = "cursor";
    plot.over.append(cursor);
    const drag = (e: PointerEvent) => {
      const r = plot.over.getBoundingClientRect();
      const x = Math.min(r.width, Math.max(0, e.clientX - r.left));
      this.seek(plot.posToVal(x, "x"));
    };
    plot.over.style.touchAction = "pan-y";
    plot.over.addEventListener("pointerdown", (e) => {
      plot.over.setPointerCapture(e.pointerId);
      drag(e);
    });
    plot.over.addEventListener("pointermove", (e) => {
      if (e.buttons) drag(e);
    });
    this.open.push({ ...made, cursor, plot });
  }

  /** The uppermost plot has the names of events, if they are few. */
  private hasNames(u: uPlot): boolean {
    const n = this.runs[0].marks.length;
    return n > 0 && n <= 8 && (!this.open.length || this.open[0].plot === u);
  }

  private drawMarks(u: uPlot, marks: Mark[]): void {
    if (!marks.length || marks.length > 200) return;
    const g = u.ctx;
    g.save();
    g.strokeStyle = this.theme.text;
    g.globalAlpha = 0.55;
    g.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    g.lineWidth = devicePixelRatio;
    const taken: [number, number][] = []; // where names stand; one that would touch another is left out
    for (const m of marks) {
      const x = Math.round(u.valToPos(m.t, "x", true)) + 0.5;
      g.beginPath();
      g.moveTo(x, u.bbox.top);
      g.lineTo(x, u.bbox.top + u.bbox.height);
      g.stroke();
      if (!this.hasNames(u)) continue;
      const left = x > u.bbox.left + 0.8 * u.bbox.width; // names stay inside the plot
      g.globalAlpha = 0.9;
      g.fillStyle = this.theme.text;
      g.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      g.textAlign = left ? "right" : "left";
      g.textBaseline = "top";
      const at = x + (left ? -4 : 4) * devicePixelRatio;
      const wide = g.measureText(m.name).width;
      const [from, to] = left ? [at - wide, at] : [at, at + wide];
      if (taken.every(([a, b]) => to < a - 3 * devicePixelRatio || from > b + 3 * devicePixelRatio)) {
        g.fillText(m.name, at, u.bbox.top + devicePixelRatio);
        taken.push([from, to]);
      }
      g.globalAlpha = 0.55;
    }
    g.restore();
  }

  dress(theme: Theme): void {
    this.theme = theme;
    this.redraw();
  }

  private redraw(): void {
    for (const o of this.open) {
      o.plot.redraw(false, true);
      [...o.values.children].forEach((one, i) => ((one as HTMLElement).style.color = this.theme.curve(i)));
    }
    this.move(this.time);
  }

  move(t: number): void {
    this.time = t;
    for (const o of this.open) {
      const x = o.plot.valToPos(t, "x");
      o.cursor.style.transform = `translateX(${x}px)`;
      o.panel.entries.forEach((e, i) => {
        const one = o.values.children[i] as HTMLElement;
        const index = o.panel.entries.length > 1 ? subscripts[(i + 1) % 10] + " " : "";
        const value = at(e, t);
        const text = `${index}${Math.abs(value) <= this.quiet ? "0" : short(value)}`; // as the curve is drawn
        if (one.textContent !== text) one.textContent = text;
      });
    }
  }

  resize(): void {
    const width = Math.max(200, this.host.clientWidth - 16);
    if (width === this.width) return;
    this.width = width;
    for (const o of this.open) o.plot.setSize({ width, height });
    this.move(this.time);
  }
}

/** Room above and below, and for the names of events; a constant gets a range of its own, and so does what is 0 up to
 * the absolute tolerance of the run. */
function padded(lo: number, hi: number, quiet: number, names: boolean): [number, number] {
  if (lo === null || hi === null || !Number.isFinite(lo) || !Number.isFinite(hi)) return [-1, 1];
  if (Math.max(Math.abs(lo), Math.abs(hi)) <= quiet) return [-1, 1];
  const size = hi - lo;
  const least = 1e-6 * Math.max(Math.abs(lo), Math.abs(hi));
  const pad = size > least ? 0.07 * size : 0.05 * Math.abs(hi);
  return [lo - pad, hi + pad + (names ? 0.2 * (size + 2 * pad) : 0)];
}

/** The numbers beside a plot: up to four, two at least, since one alone is no scale. */
function numbers(lo: number, hi: number): number[] {
  const extent = hi - lo;
  if (!(extent > 0) || !Number.isFinite(extent)) return [lo];
  for (let power = Math.ceil(Math.log10(extent)), found: number[] = [], i = 0; ; i++) {
    const lead = [1, 0.5, 0.2][i % 3];
    const step = lead * 10 ** (power - Math.floor(i / 3));
    const first = Math.ceil(lo / step - 1e-9);
    const last = Math.floor(hi / step + 1e-9);
    if (found.length >= 2 && last - first >= 4) return found;
    found = Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
    if (found.length > 4) return found;
  }
}

function tick(v: number): string {
  if (v === null) return "";
  const a = Math.abs(v);
  return power(a !== 0 && (a < 1e-4 || a >= 1e6) ? String((+v.toPrecision(6)).toExponential()) : String(+v.toPrecision(6)));
}

/** "5e-12" as one writes it: 5×10⁻¹². */
function power(text: string): string {
  const [number, exponent] = text.replace(/^-/, "−").split("e");
  if (exponent === undefined) return number;
  const raised = [...String(+exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c])).join("");
  return `${number}×10${raised}`;
}

/** An angle that passes from one end of its full turn to the other (atan2) has a gap there, not a line across the
 * plot. t: times at which y was taken. */
function turned(series: Series, t: number[], y: number[]): (number | null)[] {
  if (typeof series === "number") return y;
  const knots = series.knots.t;
  const values = Array.from(knots, (x) => at(series, x));
  const [lo, hi] = values.reduce(([a, b], v) => (v < a ? [v, b] : v > b ? [a, v] : [a, b]), [Infinity, -Infinity]);
  const inTurn = (lo >= -3.15 && hi <= 3.15) || (lo >= -0.01 && hi <= 6.29);
  if (!inTurn || hi - lo <= 1.5 * Math.PI) return y;
  const gaps: (number | null)[] = [...y];
  for (let i = 0, k = 0; i + 1 < knots.length; i++) {
    while (k < t.length && t[k] <= knots[i]) k++;
    if (Math.abs(values[i + 1] - values[i]) <= 1.5 * Math.PI) continue;
    for (; k < t.length && t[k] < knots[i + 1]; k++) gaps[k] = null;
  }
  return gaps;
}
