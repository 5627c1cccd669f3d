// SPDX-License-Identifier: MIT
// How long pages take to load, and frames to draw. node bench/page.mjs PROGRAM [FOLDER] [--tries N] [--json FILE]
//
// Chromium opens each page from disk several times, each time as a new tab. Reported for each page:
//   load    from navigation to the first drawn frame: the quietest try and the median; and in it the processor time of the
//           main thread, of the process with the page, and of the one that draws. The last two together are an upper
//           bound of the load time on a machine that does nothing else
//   frame   while playing: the distance of frames (quietest try, median), the main thread's processor time per frame, and
//           that of the two processes
// There is no graphics card behind this browser: pictures are drawn by software (SwiftShader) on the processor, which a
// graphics card would do beside it. "nothing" is a page that only asks for frames: what the browser itself takes. "cube" is
// the least page of three.js, one lit cube in a canvas of the same size: the last table divides by its numbers, which
// are measured in turn with the others, so that a busy machine meets all alike.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "../web/node_modules/esbuild/lib/main.js";
import { browserPath, launch } from "../web/browser.mjs";

const words = process.argv.slice(2);
const option = (name, otherwise) => (words.includes(name) ? words.splice(words.indexOf(name), 2)[1] : otherwise);
const tries = Number(option("--tries", "5"));
const json = option("--json", "");
const seconds = Number(option("--seconds", "2"));
const [program, folder = "build/bench_page"] = words.map((w) => resolve(w));
if (!program || !browserPath) throw new Error(browserPath ? "usage: node bench/page.mjs PROGRAM [FOLDER]" : "no Chromium");
mkdirSync(folder, { recursive: true });
const anagyre = (...args) => execFileSync(program, [...args, "--quiet"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });

const cube = `import * as THREE from "three";
const canvas = document.getElementById("canvas");
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
renderer.setSize(880, 500, false);
const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(32, 880/500, 0.1, 10);
camera.position.z = 5;
const box = new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshLambertMaterial());
scene.add(box, new THREE.HemisphereLight());
let n = 0;
const frame = () => { box.rotation.z = 0.01*n++; renderer.render(scene, camera); requestAnimationFrame(frame); };
requestAnimationFrame(frame);
window.anagyre = { frames: () => n };`;

/** The least page of three.js. */
async function cubePage() {
  const made = await build({
    stdin: { contents: cube, resolveDir: new URL("../web", import.meta.url).pathname },
    bundle: true, minify: true, write: false, format: "iife", target: ["es2022"],
  });
  const script = made.outputFiles[0].text.replaceAll("</script", "\\x3c/script");
  return `<!doctype html><meta charset=utf-8><canvas id=canvas style="width:880px;height:500px"></canvas><script>${script}</script>`;
}

/** The pages that are measured: name, rows of the run, file. */
async function makePages() {
  const pages = [];
  const add = (name, model, t1, every, ...more) => {
    anagyre("run", model, "--t1", String(t1), "--every", String(every), "-o", `${name}.h5`, ...more);
    const made = JSON.parse(anagyre("view", `${name}.h5`, "-o", `${name}.html`, "--json"));
    pages.push({ name, rows: made.rows, bytes: made.bytes, file: join(folder, `${name}.html`) });
  };
  add("one_body", "rattleback", 100, 0.01);
  add("coin", "euler_disk", 20, 0.005);
  add("long_run", "rubber_ellipsoid", 5000, 0.05);
  add("long_stone", "rattleback", 1000, 0.01);
  const text = "<!doctype html><canvas id=canvas></canvas><script>let n=0;const f=()=>{n++;requestAnimationFrame(f)};" +
    "requestAnimationFrame(f);window.anagyre={frames:()=>n,draw(){}}</script>";
  for (const [name, page] of [["cube", await cubePage()], ["nothing", text]]) {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, page);
    pages.push({ name, rows: 0, bytes: page.length, file });
  }
  return pages;
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Notes when the first frame is finished: its pixels have been read back, so the drawing is over. */
const watch = () => {
  const look = () => {
    if (!(window.anagyre?.frames() > 0)) return requestAnimationFrame(look);
    const canvas = document.getElementById("canvas");
    const g = canvas?.getContext("webgl2");
    if (g) g.readPixels(0, 0, 1, 1, g.RGBA, g.UNSIGNED_BYTE, new Uint8Array(4));
    window.firstFrame = performance.now();
  };
  requestAnimationFrame(look);
};

/** Seconds of the main thread so far, as the browser counts its tasks. */
async function mainThread(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((m) => m.name === name)?.value ?? NaN;
  return { task: of("TaskDuration"), script: of("ScriptDuration") };
}

/** Processor seconds so far of the processes of the browser, by kind. */
async function processes(browserSession) {
  const { processInfo } = await browserSession.send("SystemInfo.getProcessInfo");
  const sum = {};
  for (const p of processInfo) sum[p.type] = (sum[p.type] ?? 0) + p.cpuTime;
  return sum;
}

async function once(page) {
  const browser = await launch();
  const browserSession = await browser.newBrowserCDPSession();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await tab.addInitScript(watch);
  const blank = await processes(browserSession);
  await tab.goto(pathToFileURL(page.file).href);
  await tab.waitForFunction(() => window.firstFrame > 0, null, { timeout: 60000 });
  const load = (await tab.evaluate(() => window.firstFrame)) / 1000;
  const loaded = await mainThread(session);
  const there = await processes(browserSession);
  await tab.waitForTimeout(1500); // the side panel is filled after the first picture
  const settled = await mainThread(session);
  await tab.keyboard.press("Space");
  await tab.waitForTimeout(2000); // and the number of pixels found that this machine can draw
  const before = [await mainThread(session), await processes(browserSession)];
  const stamps = await tab.evaluate(
    (time) =>
      new Promise((done) => {
        const list = [];
        const frame = (now) => {
          list.push(now);
          if (now - list[0] < 1000 * time) requestAnimationFrame(frame);
          else done(list);
        };
        requestAnimationFrame(frame);
      }),
    seconds,
  );
  const after = [await mainThread(session), await processes(browserSession)];
  await browser.close();
  const n = stamps.length - 1;
  const distances = stamps.slice(1).map((t, i) => t - stamps[i]);
  return {
    load,
    loadMain: loaded.task,
    loadPage: there.renderer - blank.renderer,
    loadDraw: (there.GPU ?? 0) - (blank.GPU ?? 0),
    sideMain: settled.task - loaded.task,
    distance: median(distances),
    late: distances.filter((d) => d > 1.5 * (1000 / 60)).length / n,
    frameMain: (1000 * (after[0].task - before[0].task)) / n,
    framePage: (1000 * (after[1].renderer - before[1].renderer)) / n,
    frameDraw: (1000 * ((after[1].GPU ?? 0) - (before[1].GPU ?? 0))) / n,
  };
}

const pages = await makePages();
const results = pages.map((p) => ({ ...p, tries: [] }));
for (let i = 0; i < tries; i++) for (const r of results) r.tries.push(await once(r)); // in turn: noise meets all alike
console.log(`${cpus().length} processors (load ${loadavg()[0].toFixed(1)}), software rendering, 1280 x 900, ${tries} tries`);
console.log("                             load (s)                             | frame (ms)");
console.log("page          rows    bytes   best median   main   page   draw side | apart: best median  late   main   page  drawing");
for (const r of results) {
  const of = (name) => r.tries.map((t) => t[name]);
  const best = (name) => Math.min(...of(name));
  r.summary = { load: best("load"), loadMedian: median(of("load")), distanceBest: best("distance"), lateBest: best("late") };
  for (const name of ["loadMain", "loadPage", "loadDraw", "sideMain", "distance", "late", "frameMain", "framePage", "frameDraw"]) r.summary[name] = median(of(name));
  const s = r.summary;
  const f = (x, n, w) => x.toFixed(n).padStart(w);
  console.log(
    `${r.name.padEnd(11)} ${String(r.rows).padStart(6)} ${String(r.bytes).padStart(8)} ${f(s.load, 2, 6)} ${f(s.loadMedian, 2, 6)} ` +
      `${f(s.loadMain, 2, 6)} ${f(s.loadPage, 2, 6)} ${f(s.loadDraw, 2, 6)} ${f(s.sideMain, 2, 4)} | ${f(s.distanceBest, 1, 11)} ${f(s.distance, 1, 6)} ` +
      `${f(100 * s.lateBest, 0, 3)} % ${f(s.frameMain, 2, 6)} ${f(s.framePage, 2, 6)} ${f(s.frameDraw, 2, 8)}`,
  );
}
console.log("\nover the cube    load: median   main  drawing | frame: apart   main  drawing");
const unit = results.find((r) => r.name === "cube").summary;
for (const r of results.filter((r) => r.rows)) {
  const [a, b] = [["loadMedian", "loadMain", "loadDraw"], ["distance", "frameMain", "frameDraw"]].map((names) =>
    names.map((name) => (r.summary[name] / unit[name]).toFixed(1).padStart(8)).join(" "));
  console.log(`${r.name.padEnd(14)} ${a} | ${b}`);
}
if (json) writeFileSync(json, JSON.stringify(results, null, 1));
