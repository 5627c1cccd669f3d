// SPDX-License-Identifier: MIT
// What the page shows, as src/view/page.c writes it: series as knots with values and slopes, and how to read them back.

/** A number that does not change, or [index of a channel]; null: not a number. */
export type Stored = number | [number] | null;

export interface StoredChannel {
  n: number;
  lo: number;
  hi: number;
  steep: number;
  d: string;
}

export interface StoredThing {
  kind: string;
  group: string;
  name: string;
  colour: number;
  args: Record<string, Stored[]>;
  grid?: { rows: number; cols: number; d: string };
}

export interface StoredPanel {
  name: string;
  label: string;
  main: boolean;
  entries: Stored[];
}

export interface StoredRun {
  name: string;
  facts: [string, string][];
  rows: number;
  stride: number;
  within: number;
  time: { n: number; from: number; to: number; d?: string };
  events: { name: string; times: number[] }[];
  things?: StoredThing[];
  panels: StoredPanel[];
  left_out: string[];
  channels: StoredChannel[];
}

export interface StoredPage {
  format: number;
  title: string;
  equations: string;
  params: [string, string][];
  runs: StoredRun[];
}

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out.buffer;
}

export function floats(base64: string): Float32Array {
  return new Float32Array(bytes(base64));
}

/** A series over time: cubics between knots. */
export class Channel {
  readonly t: Float64Array;
  readonly y: Float64Array;
  readonly s: Float64Array;
  private last = 0;

  constructor(stored: StoredChannel, times: Float64Array) {
    const n = stored.n;
    const buffer = bytes(stored.d);
    const rows = new Uint16Array(buffer, 0, n);
    const values = new Uint16Array(buffer, 2 * n, n);
    const slopes = new Int16Array(buffer, 4 * n, n);
    this.t = new Float64Array(n);
    this.y = new Float64Array(n);
    this.s = new Float64Array(n);
    for (let i = 0, row = 0; i < n; i++) {
      row += rows[i];
      this.t[i] = times[row];
      this.y[i] = values[i] === 65535 ? NaN : stored.lo + ((stored.hi - stored.lo) * values[i]) / 65534;
      this.s[i] = (stored.steep * slopes[i]) / 32767;
    }
  }

  /** The knot at or before a time. */
  private find(t: number): number {
    const T = this.t;
    const n = T.length;
    let i = this.last;
    if (T[i] <= t && (i + 1 >= n || t < T[i + 1])) return i;
    let lo = 0;
    let hi = n - 1;
    while (hi - lo > 1) {
      const middle = (lo + hi) >> 1;
      if (T[middle] <= t) lo = middle;
      else hi = middle;
    }
    this.last = lo;
    return lo;
  }

  at(t: number): number {
    const T = this.t;
    const n = T.length;
    if (n === 1 || t <= T[0]) return this.y[0];
    if (t >= T[n - 1]) return this.y[n - 1];
    const i = this.find(t);
    const h = T[i + 1] - T[i];
    const u = (t - T[i]) / h;
    const v = 1 - u;
    return (
      this.y[i] * v * v * (1 + 2 * u) +
      this.y[i + 1] * u * u * (1 + 2 * v) +
      h * u * v * (this.s[i] * v - this.s[i + 1] * u)
    );
  }
}

export type Series = number | Channel;

export function at(series: Series, t: number): number {
  return typeof series === "number" ? series : series.at(t);
}

export interface Thing {
  kind: string;
  group: string;
  name: string;
  colour: number;
  args: Record<string, Series[]>;
  grid?: { rows: number; cols: number; values: Float32Array };
}

export interface Panel {
  name: string;
  label: string;
  main: boolean;
  entries: Series[];
}

export interface Mark {
  name: string;
  t: number;
}

export class Run {
  readonly name: string;
  readonly facts: [string, string][];
  readonly from: number;
  readonly to: number;
  readonly things: Thing[];
  readonly panels: Panel[];
  readonly marks: Mark[];
  readonly about: string;
  readonly leftOut: string[];

  constructor(stored: StoredRun) {
    const n = stored.time.n;
    let times: Float64Array;
    if (stored.time.d) times = new Float64Array(bytes(stored.time.d));
    else {
      const dt = n > 1 ? (stored.time.to - stored.time.from) / (n - 1) : 0;
      times = Float64Array.from({ length: n }, (_, i) => stored.time.from + i * dt);
      times[n - 1] = stored.time.to;
    }
    const channels = stored.channels.map((c) => new Channel(c, times));
    const read = (x: Stored): Series => (x === null ? NaN : typeof x === "number" ? x : channels[x[0]]);
    this.name = stored.name;
    this.facts = stored.facts;
    this.from = stored.time.from;
    this.to = stored.time.to;
    this.things = (stored.things ?? []).map((thing) => ({
      kind: thing.kind,
      group: thing.group,
      name: thing.name,
      colour: thing.colour,
      args: Object.fromEntries(Object.entries(thing.args).map(([k, v]) => [k, v.map(read)])),
      grid: thing.grid && { rows: thing.grid.rows, cols: thing.grid.cols, values: floats(thing.grid.d) },
    }));
    this.panels = stored.panels.map((p) => ({ ...p, entries: p.entries.map(read) }));
    this.marks = stored.events
      .flatMap((e) => e.times.map((t) => ({ name: e.name, t })))
      .sort((a, b) => a.t - b.t);
    this.leftOut = stored.left_out;
    const knots = stored.channels.reduce((sum, c) => sum + c.n, 0);
    const each = stored.stride > 1 ? `one row in ${stored.stride} of ${stored.rows}` : `${stored.rows} rows`;
    this.about =
      `${each}, thinned to ${knots} knots: between them every row is met within 1e-4 of the range of its quantity.`;
  }
}

/** Times at which a few series are drawn as smooth curves: their knots, and points between where there are few. */
export function drawingTimes(series: Series[], from: number, to: number, most: number): number[] {
  const channels = series.filter((c): c is Channel => typeof c !== "number");
  const knots = channels.reduce((sum, c) => sum + c.t.length, 0);
  const parts = Math.max(1, Math.min(6, Math.floor(most / (knots || 1))));
  const all = new Float64Array(2 + parts * knots);
  let n = 0;
  all[n++] = from;
  for (const c of channels) {
    const last = c.t.length - 1;
    for (let i = 0; i < last; i++) {
      for (let k = 0; k < parts; k++) all[n++] = c.t[i] + ((c.t[i + 1] - c.t[i]) * k) / parts;
    }
  }
  all[n++] = to;
  const sorted = all.subarray(0, n).sort();
  const step = Math.max(1, Math.ceil(n / most));
  const times: number[] = [];
  for (let i = 0; i < n; i++) {
    if (sorted[i] !== times[times.length - 1] && (i % step === 0 || i === n - 1)) times.push(sorted[i]);
  }
  return times;
}

export function readPage(): { page: StoredPage; runs: Run[] } {
  const element = document.getElementById("data");
  const page = JSON.parse(element?.textContent ?? "") as StoredPage;
  return { page, runs: page.runs.map((r) => new Run(r)) };
}
