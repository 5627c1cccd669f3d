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
  quiet: number;
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

interface Knots {
  t: Float64Array;
  y: Float64Array;
  s: Float64Array;
}

/** A series over time: cubics between knots. They are read when they are first asked for. */
export class Channel {
  private read: Knots | null = null;
  private last = 0;

  constructor(
    private readonly stored: StoredChannel,
    private readonly times: Float64Array,
  ) {}

  /** Times, values and slopes of the knots. */
  get knots(): Knots {
    return (this.read ??= this.decode());
  }

  private decode(): Knots {
    const { n, lo, hi, steep, d } = this.stored;
    const buffer = bytes(d);
    const rows = new Uint16Array(buffer, 0, n);
    const values = new Uint16Array(buffer, 2 * n, n);
    const slopes = new Int16Array(buffer, 4 * n, n);
    const [t, y, s] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
    for (let i = 0, row = 0; i < n; i++) {
      row += rows[i];
      t[i] = this.times[row];
      y[i] = values[i] === 65535 ? NaN : lo + ((hi - lo) * values[i]) / 65534;
      s[i] = (steep * slopes[i]) / 32767;
    }
    return { t, y, s };
  }

  /** The knot at or before a time. */
  private find(T: Float64Array, t: number): number {
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
    const { t: T, y, s } = this.knots;
    const n = T.length;
    if (n === 1 || t <= T[0]) return y[0];
    if (t >= T[n - 1]) return y[n - 1];
    const i = this.find(T, t);
    const h = T[i + 1] - T[i];
    const u = (t - T[i]) / h;
    const v = 1 - u;
    return (
      y[i] * v * v * (1 + 2 * u) +
      y[i + 1] * u * u * (1 + 2 * v) +
      h * u * v * (s[i] * v - s[i + 1] * u)
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
  /** Numbers that stay below it are 0 as far as the run can tell: its absolute tolerance. */
  readonly quiet: number;
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
    this.quiet = stored.quiet;
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
  const knots = channels.reduce((sum, c) => sum + c.knots.t.length, 0);
  const parts = Math.max(1, Math.min(6, Math.floor(most / (knots || 1))));
  const all = new Float64Array(2 + parts * knots);
  let n = 0;
  all[n++] = from;
  for (const c of channels) {
    const T = c.knots.t;
    const last = T.length - 1;
    for (let i = 0; i < last; i++) {
      for (let k = 0; k < parts; k++) all[n++] = T[i] + ((T[i + 1] - T[i]) * k) / parts;
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
