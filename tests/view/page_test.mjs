// SPDX-License-Identifier: MIT
// Pages of `anagyre view` in a real browser (Debian's Chromium), opened from disk: no error, no request, the body where the
// result file has it, and what people do with a page. node page_test.mjs PROGRAM FOLDER [PART_OF_A_NAME]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { browserPath, launch } from "../../web/browser.mjs";

if (!browserPath) {
  console.error("no browser: install chromium (Debian)");
  process.exit(1);
}

const [program, folder] = process.argv.slice(2).map((x) => resolve(x));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const anagyre = (...args) => execFileSync(program, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
const browser = await launch();
const slow = 120000; // software rendering on a busy machine

/** Opens a page with nothing allowed to go wrong; returns the tab and what went wrong so far. */
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 900, height: 640 }, ...options });
  context.setDefaultTimeout(slow);
  const tab = await context.newPage();
  const wrong = [];
  const address = pathToFileURL(join(folder, file)).href;
  tab.on("console", (m) => ["error", "warning"].includes(m.type()) && wrong.push(m.text()));
  tab.on("pageerror", (e) => wrong.push(String(e)));
  tab.on("dialog", (d) => (wrong.push(`dialog ${d.message()}`), d.dismiss()));
  tab.on("request", (r) => !/^(data|blob):/.test(r.url()) && r.url() !== address && wrong.push(`request ${r.url()}`));
  await tab.goto(address);
  await tab.waitForFunction(() => window.anagyre?.frames() > 0);
  return { tab, context, wrong };
}

/** The rows of a run as objects: column name -> number. */
function rows(model, t1, ...more) {
  const [head, ...lines] = anagyre("run", model, "--t1", String(t1), "--every", "0.5", "-o", "-", "--quiet", ...more).trim().split("\n");
  const names = [];
  for (const name of head.match(/"[^"]*"|[^,]+/g)) names.push(name.replaceAll('"', ""));
  return lines.map((line) => Object.fromEntries(line.split(",").map((x, i) => [names[i], Number(x)])));
}

/** Plays a video in the browser: its size, the frames that were shown, and how many colours its last one has. */
async function watch(file) {
  const tab = await browser.newPage();
  const address = `data:video/webm;base64,${readFileSync(file).toString("base64")}`;
  const seen = await tab.evaluate(async (src) => {
    const video = document.createElement("video");
    Object.assign(video, { src, muted: true });
    await new Promise((done, fail) => ((video.onended = done), (video.onerror = () => fail(new Error(video.error.message))), video.play().catch(fail)));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const g = canvas.getContext("2d");
    g.drawImage(video, 0, 0);
    const pixels = new Uint32Array(g.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return { size: [canvas.width, canvas.height], frames: video.getVideoPlaybackQuality().totalVideoFrames, colours: new Set(pixels).size, png: canvas.toDataURL() };
  }, address);
  writeFileSync(join(folder, "video.png"), Buffer.from(seen.png.split(",")[1], "base64"));
  await tab.close();
  return seen;
}

const tests = {
  // Euler's disk: position and orientation at all rows of another run of the same motion. The page keeps every series within
  // 1e-4 of its range (quaternions 5e-5, so entries of R within 4e-4); 16-bit values are part of that.
  async "the body is where the data says"() {
    anagyre("run", "euler_disk", "--t1", "20", "--every", "0.005", "-o", "disk.h5", "--quiet");
    anagyre("view", "disk.h5", "-o", "disk.html", "--quiet");
    const { tab, context, wrong } = await open("disk.html");
    for (const row of rows("euler_disk", 20)) {
      const { position: p, quaternion: q } = await tab.evaluate((t) => (window.anagyre.seek(t), window.anagyre.whereIs("coin")), row.t);
      for (let i = 0; i < 3; i++) assert.ok(Math.abs(p[i] - row[`coin.x[${i + 1}]`]) < 1e-4, `x[${i + 1}] at ${row.t}`);
      const [w, x, y, z] = q;
      const R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
      ];
      for (let i = 0; i < 3; i++)
        for (let j = 0; j < 3; j++)
          assert.ok(Math.abs(R[i][j] - row[`coin.R[${i + 1},${j + 1}]`]) < 4e-4, `R[${i + 1},${j + 1}] at ${row.t}`);
      const tilt = await tab.evaluate(() => window.anagyre.value("tilt"));
      assert.ok(Math.abs(tilt - row.tilt) < 1e-5, `tilt at ${row.t}`);
    }
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // What models draw themselves: the stone of the rattleback at x, turned by R*Q with Q = rotation(e3, alpha).
  async "drawings are where the data says"() {
    anagyre("run", "rattleback", "--t1", "100", "--every", "0.01", "-o", "stone.h5", "--quiet");
    anagyre("view", "stone.h5", "-o", "stone.html", "--quiet");
    const { tab, context, wrong } = await open("stone.html");
    const c = Math.cos(0.35), s = Math.sin(0.35);
    for (const row of rows("rattleback", 100).filter((_, i) => i % 20 === 0)) {
      const { position: p, quaternion: q } = await tab.evaluate((t) => (window.anagyre.seek(t), window.anagyre.whereIs("")), row.t);
      // 1e-4 of ranges below 4; the orientation as above
      for (let i = 0; i < 3; i++) assert.ok(Math.abs(p[i] - row[`x[${i + 1}]`]) < 4e-4, `x[${i + 1}] at ${row.t}`);
      const [w, x, y, z] = q, third = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)];
      const first = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)];
      for (let i = 0; i < 3; i++) {
        const R = [1, 2, 3].map((j) => row[`R[${i + 1},${j}]`]);
        assert.ok(Math.abs(third[i] - R[2]) < 4e-4, `third axis at ${row.t}`);
        assert.ok(Math.abs(first[i] - (c * R[0] + s * R[1])) < 4e-4, `first axis at ${row.t}`);
      }
    }
    assert.deepEqual(wrong, []);
    await context.close();
  },

  async "play, slider, speed, events, switches, panels, sizes, dark"() {
    anagyre("view", "rubber_ellipsoid", "--t1", "20", "-o", "lens.html", "--quiet");
    const { tab, context, wrong } = await open("lens.html");
    const time = () => tab.evaluate(() => window.anagyre.time());
    await tab.keyboard.press("Space");
    await tab.waitForFunction(() => window.anagyre.time() > 0.05);
    await tab.keyboard.press("Space");
    assert.equal(await tab.evaluate(() => window.anagyre.playing()), false);
    await tab.locator("#time").fill("7.5");
    assert.equal(await time(), 7.5);
    await tab.keyboard.press("]");
    assert.ok(Math.abs((await time()) - 11.478) < 0.01, "the next event");
    await tab.locator(".tick").first().click();
    assert.ok(Math.abs((await time()) - 5.0014) < 0.01, "the mark of an event");
    await tab.locator("#speed").fill("1");
    assert.equal(await tab.locator("#speed-text").textContent(), "×10");
    for (const group of ["axes", "omega", "normal", "friction"]) {
      const visible = () => tab.evaluate((g) => window.anagyre.visible(g), group);
      assert.equal(await visible(), 0, `${group} at first`);
      await tab.locator(`[data-group=${group}]`).click();
      assert.ok((await visible()) > 0, `${group} switched on`);
      const [length, value] = await tab.evaluate((g) => window.anagyre.arrowScale(g) ?? [1, 1], group);
      assert.ok(length > 0 && value > 0, `${group} has a scale`);
    }
    assert.match(await tab.locator("#notice").textContent(), /^friction: an arrow of length \S+ shows \S+$/);
    for (const t of [0, 3.3, 7.5, 12, 20])
      for (const group of ["omega", "normal", "friction"]) {
        const edge = await tab.evaluate(([t, g]) => (window.anagyre.seek(t), window.anagyre.outside(g)), [t, group]);
        assert.ok(edge <= 1, `${group} at ${t} is in the picture: ${edge}`);
      }
    await tab.keyboard.press("f");
    const before = await tab.locator(".panel").count();
    await tab.locator('[data-panel="lens.contact"]').click();
    assert.equal(await tab.locator(".panel").count(), before + 1);
    const over = await tab.locator(".u-over").first().boundingBox();
    await tab.mouse.click(over.x + 0.25 * over.width, over.y + 10);
    assert.ok(Math.abs((await time()) - 5) < 0.1, "time from a plot");
    const colour = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await tab.keyboard.press("d");
    assert.notEqual(await colour(), light);
    await tab.setViewportSize({ width: 500, height: 700 });
    await tab.waitForFunction(() => document.getElementById("canvas").clientWidth <= 500);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    await tab.keyboard.press("i");
    await tab.waitForFunction(() => document.querySelectorAll("aside .katex").length > 3);
    assert.equal(await tab.locator("aside .equation.plain").count(), 0);
    assert.ok((await tab.locator("aside").textContent()).includes("within 1e-4"), "the page says that it is thinned");
    const [png] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("p")]);
    assert.equal(png.suggestedFilename(), "rubber_ellipsoid.png");
    assert.equal(readFileSync(await png.path()).subarray(1, 4).toString(), "PNG");
    await tab.keyboard.press("v");
    await tab.waitForFunction(() => document.querySelector(".recording") && window.anagyre.time() > 0);
    // a busy machine may take seconds for the first pictures: wait for bytes, not for time
    await tab.waitForFunction(() => window.anagyre.recorded() > 0);
    const begun = await tab.evaluate(() => window.anagyre.recorded());
    await tab.waitForFunction((least) => window.anagyre.recorded() > least, begun);
    const [video] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("v")]);
    assert.match(video.suggestedFilename(), /^rubber_ellipsoid\.(webm|mp4)$/);
    const seen = await watch(await video.path());
    const size = await tab.evaluate(() => [document.getElementById("canvas").clientWidth, document.getElementById("canvas").clientHeight]);
    assert.deepEqual(seen.size, size, "the size of the video");
    console.log(`        video of ${seen.frames} frames, ${seen.size.join(" x ")}`);
    assert.ok(seen.frames >= 2, `${seen.frames} frames of the video`);
    assert.ok(seen.colours > 20, `${seen.colours} colours in its last frame`);
    await tab.locator("#speed").fill("0"); // the motion does not end while keys are pressed
    const pressV = () => tab.keyboard.press("v");
    for (const [from, end] of [[0, pressV], [0, pressV], [19.98, () => {}]]) { // ended at once, and by the end of the motion
      await tab.evaluate((t) => window.anagyre.seek(t), from);
      const [still] = await Promise.all([tab.waitForEvent("download"), pressV().then(end)]);
      assert.ok((await watch(await still.path())).frames >= 1, "a video has a picture");
    }
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // What moves is drawn with fewer pixels where frames are late; what stands still has all of them again.
  async "frames that are late"() {
    anagyre("view", "euler_disk", "--t1", "20", "-o", "late.html", "--quiet");
    const { tab, context, wrong } = await open("late.html");
    const width = () => tab.evaluate(() => document.getElementById("canvas").width / document.getElementById("canvas").clientWidth);
    const fine = () => tab.waitForFunction(() => window.anagyre.fine());
    await fine();
    const all = await width();
    assert.ok(all >= 1, "at first");
    await tab.keyboard.press("Space");
    await tab.evaluate(() => Array.from({ length: 100 }, () => window.anagyre.keepPace(0.1)));
    await tab.waitForFunction(() => window.anagyre.time() > 0.2);
    const few = await width();
    assert.ok(few > 0.2 && few < 0.5, `fewer pixels: ${few}`);
    await tab.keyboard.press("Space");
    await fine();
    assert.equal(await width(), all, "sharp again");
    const [png] = await Promise.all([tab.waitForEvent("download"), (tab.keyboard.press("ArrowRight"), tab.keyboard.press("p"))]);
    const size = readFileSync(await png.path()).readUInt32BE(16);
    assert.equal(size, await tab.evaluate((all) => Math.floor(all * document.getElementById("canvas").clientWidth), all), "all pixels in a saved picture");
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // The curves come after the first picture, and a panel that is switched on before that is not lost.
  async "panels before the first picture"() {
    anagyre("view", "euler_disk", "--t1", "5", "-o", "early.html", "--quiet");
    const { tab, context, wrong } = await open("early.html");
    await tab.addInitScript(() => {
      const ask = window.requestAnimationFrame.bind(window);
      window.requestAnimationFrame = (f) => (window.go ? ask(f) : (window.held = f, 0));
    });
    await tab.reload();
    await tab.waitForFunction(() => window.anagyre?.ready && window.held);
    const panels = await tab.locator(".panel").count();
    assert.ok(panels > 0, "room for the panels");
    assert.equal(await tab.locator(".uplot").count(), 0, "no curve yet");
    const top = (await tab.locator("#transport").boundingBox()).y;
    await tab.evaluate(() => ((window.go = true), window.requestAnimationFrame(window.held)));
    await tab.waitForFunction((n) => document.querySelectorAll(".uplot").length === n, panels);
    assert.equal((await tab.locator("#transport").boundingBox()).y, top, "nothing moves when the curves come");
    assert.deepEqual(wrong, []);
    await context.close();
  },

  async "two runs, dark from the system, touch"() {
    anagyre("run", "euler_disk", "--t1", "5", "--every", "0.01", "-o", "a.h5", "--quiet");
    anagyre("run", "euler_disk", "--t1", "5", "--every", "0.01", "--set", "push=0.1", "-o", "b.h5", "--quiet");
    anagyre("view", "a.h5", "b.h5", "-o", "two.html", "--quiet");
    const { tab, context, wrong } = await open("two.html", { colorScheme: "dark", hasTouch: true, isMobile: true, viewport: { width: 420, height: 760 } });
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark");
    const box = await tab.locator(".u-over").first().boundingBox();
    await tab.touchscreen.tap(box.x + 0.5 * box.width, box.y + 20);
    assert.ok(Math.abs((await tab.evaluate(() => window.anagyre.time())) - 2.5) < 0.1, "a finger sets the time");
    await tab.locator("button[title^=Play]").tap();
    assert.equal(await tab.evaluate(() => window.anagyre.playing()), true);
    const [a, b] = await tab.evaluate(() => (window.anagyre.seek(5), [0, 1].map((k) => window.anagyre.whereIs("coin", k))));
    assert.equal(await tab.evaluate(() => window.anagyre.visible("body")), 2, "the ghost is to be seen");
    assert.ok(Math.hypot(...a.position.map((x, i) => x - b.position[i])) > 1e-3, "the second run is another one");
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // Paths of a model with noise: each body where its own file has it.
  async "a cloud of paths"() {
    const text = `model noisy\nparam m = 1\nbody b mass m inertia diag(0.4, 0.4, 0.4) surface sphere(1)\nroll b on plane gravity 1
noise W transport b.Omega = 0.3*e1\nstart b.Omega = [1, 0, 0.2]\n`;
    writeFileSync(join(folder, "noisy.nh"), text);
    const files = [0, 1, 2, 3, 4].map((k) => `path${k}.h5`);
    files.forEach((f, k) => anagyre("run", "noisy.nh", "--seed", "1", "--path", String(k), "--dt", "0.01", "--t1", "2", "--no-events", "-o", f, "--quiet"));
    anagyre("view", ...files, "-o", "cloud.html", "--quiet");
    const { tab, context, wrong } = await open("cloud.html");
    assert.equal(await tab.evaluate(() => window.anagyre.visible("body")), files.length);
    const ends = await tab.evaluate(() => (window.anagyre.seek(2), [0, 1, 2, 3, 4].map((k) => window.anagyre.whereIs("b", k).position)));
    ends.forEach((p, k) => {
      const end = JSON.parse(anagyre("run", "noisy.nh", "--seed", "1", "--path", String(k), "--dt", "0.01", "--t1", "2", "--no-events", "--json")).state["b.x"];
      for (let i = 0; i < 3; i++) assert.ok(Math.abs(p[i] - end[i]) < 1e-3, `path ${k}, x[${i + 1}]`); // 1e-4 of a range below 10
    });
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // Titles and names that would be markup or script somewhere. They are shown as they are.
  async "hostile texts stay text"() {
    const title = `</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> @ANAGYRE_DATA@ $& &lt;`;
    const text = `model evil "${title}"\nparam m = 1\nbody b mass m inertia diag(1, 1, 1) surface sphere(1)\nroll b on plane gravity 1\nstart b.Omega = [1, 0, 0]\n`;
    writeFileSync(join(folder, "evil.nh"), text);
    anagyre("view", "evil.nh", "--t1", "1", "-o", "evil.html", "--quiet");
    const page = readFileSync(join(folder, "evil.html"), "utf8");
    assert.equal(page.match(/<\/script/gi).length, 2);
    assert.ok(!page.includes("<!--"));
    const { tab, context, wrong } = await open("evil.html");
    assert.equal(await tab.locator("#title").textContent(), title);
    assert.deepEqual(wrong, []);
    await context.close();
    anagyre("view", "evil.nh", "--title", "<b>&amp;</b>\u0007", "--t1", "1", "-o", "evil2.html", "--quiet");
    const second = await open("evil2.html");
    assert.equal(await second.tab.locator("#title b").count(), 0);
    assert.deepEqual(second.wrong, []);
    await second.context.close();
  },

  // 1e5 rows with a thousand oscillations in them: below 4 MB, and every row is met.
  async "long runs stay small"() {
    anagyre("run", "rubber_ellipsoid", "--t1", "5000", "--every", "0.05", "-o", "long.h5", "--quiet");
    const made = JSON.parse(anagyre("view", "long.h5", "-o", "long.html", "--json"));
    assert.ok(made.rows >= 100000 && made.bytes < 4e6, `${made.rows} rows, ${made.bytes} bytes`);
    const begin = Date.now();
    const { tab, context, wrong } = await open("long.html");
    console.log(`        ${made.rows} rows: ${made.bytes} bytes, on the screen after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    await tab.evaluate(() => window.anagyre.seek(4321));
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // What there is to see stands below the switches, at all times.
  async "the switches cover no body"() {
    anagyre("view", "rubber_sphere_ball", "--t1", "2", "-o", "upon.html", "--quiet");
    const { tab, context, wrong } = await open("upon.html", { viewport: { width: 1280, height: 900 } });
    for (const t of [0, 1, 2]) {
      const edge = await tab.evaluate((t) => (window.anagyre.seek(t), window.anagyre.outside("body")), t);
      assert.ok(edge > 0.3 && edge <= 1, `the ball at ${t}: ${edge}`);
    }
    assert.deepEqual(wrong, []);
    await context.close();
  },

  // One number alone beside an axis is no scale; more than five would touch.
  async "numbers beside every plot"() {
    anagyre("view", "roller_racer", "--t1", "10", "-o", "numbers.html", "--quiet");
    const { tab, context, wrong } = await open("numbers.html");
    await tab.addInitScript(() => {
      window.written = new Map();
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        if (this.textAlign === "right") window.written.set(this.canvas, (window.written.get(this.canvas) ?? new Set()).add(text));
        return fillText.call(this, text, ...where);
      };
    });
    await tab.reload();
    await tab.waitForFunction(() => window.anagyre?.fine() && document.querySelectorAll(".panel canvas").length > 2);
    const counts = await tab.evaluate(() => [...document.querySelectorAll(".panel canvas")].map((c) => window.written.get(c)?.size ?? 0));
    assert.ok(counts.every((n) => n >= 2 && n <= 5), String(counts));
    assert.ok((await tab.locator("aside, main, body").first().textContent()).includes("φ₀"), "parameters are symbols");
    assert.deepEqual(wrong, []);
    await context.close();
  },

  async "a table has its plots and no picture"() {
    anagyre("run", "rattleback", "--t1", "20", "--every", "0.1", "-o", "stone.csv", "--quiet");
    anagyre("view", "stone.csv", "-o", "table.html", "--quiet");
    const { tab, context, wrong } = await open("table.html");
    assert.ok((await tab.locator(".panel").count()) > 0);
    assert.equal(await tab.evaluate(() => window.anagyre.whereIs("x")), null);
    assert.deepEqual(wrong, []);
    await context.close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (process.argv[4] && !name.includes(process.argv[4])) continue;
  const begin = Date.now();
  try {
    await test();
    console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (e) {
    failed++;
    console.log(`FAILED  ${name}\n${e.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
