// SPDX-License-Identifier: MIT
// The page: puts the parts together, keeps time, and answers keys, buttons and fingers.
import "katex/dist/katex.min.css";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { readPage, type Mark } from "./data";
import { Plots, short } from "./plots";
import { Stage } from "./stage";
import { Theme } from "./theme";
import { button, element, icons, toggle } from "./widgets";

const { page, runs } = readPage();
const from = Math.min(...runs.map((r) => r.from));
const to = Math.max(...runs.map((r) => r.to));
const hasPicture = runs[0].things.length > 0;
const query = new URLSearchParams(location.hash.slice(1));

const get = (id: string) => document.getElementById(id)!;
get("title").textContent = page.title;
document.title = page.title;

// ---- state ----

let time = from;
let playing = false;
let frames = 0;
let speed = 1;
let loop = false;
let theme = new Theme(matchMedia("(prefers-color-scheme: dark)").matches);

const notice = get("notice");
function tell(text: string): void {
  notice.textContent = text;
  notice.classList.toggle("shown", text !== "");
}

let stage: Stage | null = null;
if (hasPicture) {
  try {
    stage = new Stage(get("canvas") as HTMLCanvasElement, runs);
  } catch (e) {
    console.warn(e);
    tell("This browser has no WebGL: only the plots are shown.");
  }
}
document.body.classList.toggle("flat", !stage);
if (query.has("bare")) document.body.classList.add("bare");

const plots = new Plots(get("plots"), runs, theme, (t) => seek(t));

// ---- time ----

const transport = get("transport");
const playButton = button(icons.play, "Play (space)", () => play(!playing));
const slider = element("input", {
  type: "range",
  min: String(from),
  max: String(to),
  step: "any",
  id: "time",
  "aria-label": "time",
}) as HTMLInputElement;
const readout = element("output", { id: "readout", for: "time" });
const ticks = element("div", { class: "ticks" });
const track = element("div", { class: "track" });
track.append(ticks, slider);
const speeds = element("input", {
  type: "range",
  min: "-1",
  max: "1",
  step: "0.02",
  value: "0",
  id: "speed",
  "aria-label": "speed",
}) as HTMLInputElement;
const speedText = element("output", { id: "speed-text", for: "speed" });

function seek(t: number): void {
  time = Math.min(to, Math.max(from, t));
  slider.value = String(time);
  readout.textContent = `t = ${short(time)}`;
  slider.setAttribute("aria-valuetext", readout.textContent);
  stage?.move(time);
  plots.move(time);
}

function play(on: boolean): void {
  if (on && time >= to) seek(from);
  playing = on;
  playButton.replaceChildren(on ? icons.pause() : icons.play());
  playButton.setAttribute("aria-pressed", String(on));
  playButton.title = on ? "Pause (space)" : "Play (space)";
}

function setSpeed(x: number): void {
  speed = Math.min(10, Math.max(0.1, x));
  speeds.value = String(Math.log10(speed));
  speedText.textContent = `×${+speed.toPrecision(2)}`;
}

slider.addEventListener("input", () => seek(Number(slider.value)));
speeds.addEventListener("input", () => setSpeed(10 ** Number(speeds.value)));
speeds.addEventListener("dblclick", () => setSpeed(1));

const loopButton = toggle("loop", "start again at the end (L)", false, (on) => (loop = on));
const marks: Mark[] = runs[0].marks;
let lastTick = -Infinity;
for (const m of marks) {
  if (m.t - lastTick < 0.006 * (to - from)) continue; // it would lie on the one before
  lastTick = m.t;
  const tick = element("button", { class: "tick", type: "button", title: `${m.name} t = ${short(m.t)}` });
  tick.setAttribute("aria-label", tick.title);
  tick.style.left = `${(100 * (m.t - from)) / (to - from || 1)}%`;
  tick.addEventListener("click", () => seek(m.t));
  ticks.append(tick);
}
const jump = (forward: boolean) => {
  const small = 1e-9 * (to - from);
  const next = forward ? marks.find((m) => m.t > time + small) : [...marks].reverse().find((m) => m.t < time - small);
  if (next) {
    seek(next.t);
    flash(`${next.name}, t = ${short(next.t)}`);
  }
};
transport.append(playButton);
if (marks.length) transport.append(button(icons.previous, "Previous event ([)", () => jump(false)));
transport.append(track);
if (marks.length) transport.append(button(icons.next, "Next event (])", () => jump(true)));
const speedBox = element("label", { class: "speed", title: "speed, 0.1 to 10 (< and >)" });
speedBox.append(speeds, speedText);
transport.append(readout, speedBox, loopButton);

let flashTimer = 0;
function flash(text: string): void {
  tell(text);
  clearTimeout(flashTimer);
  flashTimer = window.setTimeout(() => tell(""), 2500);
}

// ---- switches of the picture ----

const groupNames: Record<string, string> = {
  trace: "trace",
  axes: "axes of inertia",
  omega: "angular velocity",
  normal: "normal force",
  friction: "friction",
  arrow: "arrows",
  joint: "joints",
  ground: "ground",
};
/** What the length of an arrow means. */
function arrowText(group: string): string {
  const scale = stage?.scaleOf(group);
  return scale ? `${groupNames[group]}: an arrow of length ${+scale[0].toPrecision(3)} shows ${+scale[1].toPrecision(3)}` : "";
}
const switchKeys: Record<string, string> = { trace: "1", axes: "2", omega: "3", normal: "4", friction: "5" };
const switches = new Map<string, () => void>();
let followToggle: HTMLButtonElement | null = null;
if (stage) {
  const box = get("switches");
  const s = stage;
  followToggle = toggle("follow", "camera follows the body (F)", false, (on) => s.setFollow(on));
  box.append(followToggle);
  for (const [group, name] of Object.entries(groupNames)) {
    if (!s.groups.includes(group)) continue;
    const key = switchKeys[group];
    const t = toggle(name, key ? `${name} (${key})` : name, s.shown(group), (on) => {
      s.show(group, on);
      if (on && arrowText(group)) flash(arrowText(group));
    });
    t.dataset.group = group;
    box.append(t);
    if (key) switches.set(key, () => t.click());
  }
  box.append(button(icons.frame, "Whole motion (0)", () => s.look()), button(icons.top, "From above (9)", () => s.top()));
}

// ---- panels ----

const chips = get("chips");
for (const p of runs[0].panels) {
  const t = toggle(p.label, `plot of ${p.name}`, p.main, (on) => plots.toggle(p, on));
  t.dataset.panel = p.name;
  chips.append(t);
}

// ---- side panel ----

const side = get("side");
const sideButton = button(icons.info, "Parameters, equations, provenance (I)", () => showSide(side.hidden));
function showSide(on: boolean): void {
  side.hidden = !on;
  document.body.classList.toggle("with-side", on);
  sideButton.setAttribute("aria-pressed", String(on));
  if (on && frames > 1) fillSide(); // at first: after the first picture, see frame()
  fit();
}

function table(rows: [string, string][]): HTMLElement {
  const t = element("table", {});
  for (const [name, value] of rows) {
    const row = element("tr", {});
    const a = element("th", { scope: "row" });
    const b = element("td", {});
    a.textContent = name;
    b.textContent = value;
    row.append(a, b);
    t.append(row);
  }
  return t;
}

function section(title: string, ...content: Node[]): void {
  const s = element("section", {});
  const h = element("h2", {});
  h.textContent = title;
  s.append(h, ...content);
  side.append(s);
}

function paragraph(text: string): HTMLElement {
  const p = element("p", {});
  p.textContent = text;
  return p;
}

function fillSide(): void {
  if (side.hidden || side.childElementCount) return;
  if (page.params.length) section("Parameters", table(page.params));
  if (marks.length) {
    const list = element("div", { class: "events" });
    for (const m of marks.slice(0, 100)) {
      const b = element("button", { type: "button" });
      b.textContent = `${m.name}  t = ${short(m.t)}`;
      b.addEventListener("click", () => seek(m.t));
      list.append(b);
    }
    section("Events", list);
  }
  const arrows = Object.keys(groupNames).map(arrowText).filter(Boolean);
  if (arrows.length) section("Arrows", ...arrows.map(paragraph), paragraph("Two heads: it is longer than it is drawn."));
  if (page.equations) {
    const host = element("div", { class: "equations" });
    void import("./equations").then(({ typeset }) => typeset(page.equations, host));
    section("Equations", host);
  }
  runs.forEach((run, i) => {
    const notes: Node[] = [table(run.facts), paragraph(run.about)];
    if (run.leftOut.length) notes.push(paragraph(`Not in this page, to keep it small: ${run.leftOut.join(", ")}.`));
    section(i ? "Compared with" : "Provenance", ...notes);
  });
  section(
    "Keys",
    table([
      ["space", "play or pause"],
      ["← →", "one frame; with shift ten"],
      ["[ ]", "previous, next event"],
      ["< >", "slower, faster"],
      ["F, 0, 9", "follow, whole motion, from above"],
      ["1 to 5", "trace, axes, angular velocity, forces"],
      ["D, I, L", "dark, this panel, loop"],
      ["P, V", "PNG, video"],
    ]),
  );
}

// ---- pictures and films ----

function save(blob: Blob, end: string): void {
  const link = element("a", { download: `${runs[0].name.replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "_")}.${end}` }) as HTMLAnchorElement;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function picture(): void {
  if (!stage) return;
  stage.drawFinely();
  const source = stage.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  canvas.height = source.height;
  const g = canvas.getContext("2d")!;
  g.fillStyle = theme.background;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(source, 0, 0);
  canvas.toBlob((blob) => blob && save(blob, "png"), "image/png");
}

let recorder: MediaRecorder | null = null;
let recorded = 0; // bytes of the video so far
const videoButton = button(icons.video, "Record a video (V)", () => record());

/** Whether the browser can show a first picture of what was recorded: the first bytes are a header without any. */
function playable(video: Blob): Promise<boolean> {
  return new Promise((answer) => {
    const probe = document.createElement("video");
    const address = URL.createObjectURL(video);
    const close = (yes: boolean): void => {
      probe.onloadeddata = probe.onerror = null;
      probe.removeAttribute("src");
      URL.revokeObjectURL(address);
      answer(yes);
    };
    probe.onloadeddata = () => close(true);
    probe.onerror = () => close(false);
    probe.muted = true;
    probe.preload = "auto";
    probe.src = address;
  });
}

/** Ends a recording once it has a picture; until then the stage is drawn again, as only new pictures are recorded. */
async function finish(recording: MediaRecorder, pieces: Blob[]): Promise<void> {
  while (recording.state === "recording" && !(recorded > 0 && (await playable(new Blob(pieces, { type: recording.mimeType }))))) {
    stage!.draw();
    recording.requestData();
    await new Promise((next) => setTimeout(next, 50));
  }
  if (recording.state === "recording") recording.stop();
}

function record(): void {
  if (!stage) return;
  if (recorder) {
    recorder.dispatchEvent(new Event("finish"));
    return;
  }
  const kinds = typeof MediaRecorder === "undefined" ? [] : ["video/webm;codecs=vp9", "video/webm", "video/mp4"];
  const kind = kinds.find((k) => MediaRecorder.isTypeSupported(k));
  if (!kind) {
    flash("This browser cannot record videos.");
    return;
  }
  const pieces: Blob[] = [];
  stage.detail.held = true;
  stage.opaque(theme.background);
  stage.draw(); // the video gets the size of this picture
  const recording = new MediaRecorder(stage.canvas.captureStream(60), { mimeType: kind, videoBitsPerSecond: 8e6 });
  recorder = recording;
  recorded = 0;
  recording.ondataavailable = (e) => {
    pieces.push(e.data);
    recorded += e.data.size;
  };
  recording.addEventListener("finish", () => void finish(recording, pieces), { once: true });
  recording.onstop = () => {
    for (const track of recording.stream.getTracks()) track.stop(); // pictures are no longer copied for it
    save(new Blob(pieces, { type: kind }), kind.startsWith("video/mp4") ? "mp4" : "webm");
    recorder = null;
    stage!.detail.held = false;
    stage!.opaque(null);
    videoButton.classList.remove("recording");
    tell("");
  };
  recording.start(500);
  videoButton.classList.add("recording");
  tell("Recording; V ends it.");
  play(true);
}

// ---- theme ----

const darkButton = button(icons.dark, "Light or dark (D)", () => dress(new Theme(!theme.dark)));
function dress(next: Theme): void {
  theme = next;
  document.documentElement.dataset.theme = theme.dark ? "dark" : "light";
  stage?.dress(theme);
  plots.dress(theme);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => dress(new Theme(e.matches)));

const tools = get("tools");
if (stage) tools.append(button(icons.camera, "Save as PNG (P)", picture), videoButton);
tools.append(darkButton, sideButton);

// ---- keys ----

const keys: Record<string, (e: KeyboardEvent) => void> = {
  " ": () => play(!playing),
  ArrowRight: (e) => seek(time + ((e.shiftKey ? 10 : 1) * speed) / 30),
  ArrowLeft: (e) => seek(time - ((e.shiftKey ? 10 : 1) * speed) / 30),
  Home: () => seek(from),
  End: () => seek(to),
  "[": () => jump(false),
  "]": () => jump(true),
  "<": () => setSpeed(speed / 1.25),
  ">": () => setSpeed(speed * 1.25),
  f: () => followToggle?.click(),
  "0": () => stage?.look(),
  "9": () => stage?.top(),
  d: () => darkButton.click(),
  i: () => sideButton.click(),
  l: () => loopButton.click(),
  p: picture,
  v: record,
};
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const onButton = e.target instanceof HTMLButtonElement && (e.key === " " || e.key === "Enter");
  if (onButton) return;
  const act = keys[e.key] ?? keys[e.key.toLowerCase()] ?? (switches.has(e.key) ? () => switches.get(e.key)!() : null);
  if (!act) return;
  e.preventDefault();
  act(e);
});

// ---- frames ----

function fit(): void {
  const box = get("stage");
  const buttons = get("switches");
  stage?.resize(box.clientWidth, box.clientHeight, buttons.offsetHeight && buttons.offsetTop + buttons.offsetHeight);
  plots.resize();
}
new ResizeObserver(fit).observe(get("main"));
new ResizeObserver(fit).observe(get("stage"));

let before = 0;
function frame(now: number): void {
  const passed = Math.min(0.1, (now - before) / 1000);
  before = now;
  if (playing) {
    const next = time + passed * speed;
    if (next < to) seek(next);
    else if (loop) seek(from);
    else {
      seek(to);
      play(false);
      recorder?.dispatchEvent(new Event("finish"));
    }
  }
  stage?.draw();
  if (playing && !recorder) stage?.detail.keep(passed);
  if (++frames === 2) {
    plots.fill(); // after the first picture
    fillSide();
  }
  requestAnimationFrame(frame);
}

dress(theme);
setSpeed(1);
if (stage?.wanders()) followToggle?.click();
seek(query.has("t") ? Number(query.get("t")) : from);
showSide(!query.has("bare") && innerWidth >= 1100);
fit();
requestAnimationFrame(frame);

// For tests and for taking pictures of pages.
Object.assign(window, {
  anagyre: {
    seek,
    time: () => time,
    playing: () => playing,
    frames: () => frames,
    range: [from, to],
    recorded: () => recorded,
    whereIs: (name: string, run = 0) => stage?.whereIs(name, run) ?? null,
    arrowScale: (group: string) => stage?.scaleOf(group) ?? null,
    outside: (group: string) => stage?.outside(group) ?? 0,
    visible: (group: string) => stage?.visible(group) ?? 0,
    value: (name: string, entry = 0) => {
      const p = runs[0].panels.find((x) => x.name === name);
      const s = p?.entries[entry];
      return s === undefined ? null : typeof s === "number" ? s : s.at(time);
    },
    draw: () => stage?.draw(),
    fine: () => frames > 2 && (stage?.detail.fine ?? true),
    keepPace: (seconds: number) => stage?.detail.keep(seconds),
    ready: true,
  },
});
