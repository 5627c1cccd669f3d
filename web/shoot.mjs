// SPDX-License-Identifier: MIT
// node shoot.mjs PAGE.html OUT.png [--time T] [--size 800x600] [--bare] [--dark] [--scale 1]: a picture of a page, taken by
// Chromium. With --bare only the moving system is on it.
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { launch } from "./browser.mjs";

const [page, out, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
if (!page || !out) throw new Error("usage: node shoot.mjs PAGE.html OUT.png [--time T] [--size 800x600] [--bare] [--dark]");
const [width, height] = option("--size", "1280x900").split("x").map(Number);
const browser = await launch();
const context = await browser.newContext({
  viewport: { width, height },
  deviceScaleFactor: Number(option("--scale", "1")),
  colorScheme: rest.includes("--dark") ? "dark" : "light",
});
const tab = await context.newPage();
const hash = new URLSearchParams();
if (rest.includes("--time")) hash.set("t", option("--time"));
if (rest.includes("--bare")) hash.set("bare", "1");
await tab.goto(`${pathToFileURL(resolve(page))}#${hash}`);
await tab.waitForFunction(() => window.anagyre?.fine());
for (const key of option("--keys", "")) await tab.keyboard.press(key);
if (rest.includes("--keys")) await tab.waitForTimeout(300);
await tab.waitForFunction(() => window.anagyre.fine());
await tab.screenshot({ path: out });
await browser.close();
