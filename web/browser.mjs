// SPDX-License-Identifier: MIT
// Debian's Chromium without a window, drawing with its software renderer: the same pictures on every machine.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => existsSync(p));

export function launch() {
  return chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
  });
}
