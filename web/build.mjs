// SPDX-License-Identifier: MIT
// node build.mjs OUT.html: bundles src/main.ts and its packages into one HTML file. The program of the page is allowed to
// run by its hash and nothing else is, so text of a model could not run even if it got into the markup.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: ["es2022"],
  legalComments: "none",
  charset: "utf8",
  loader: { ".woff2": "dataurl", ".woff": "empty", ".ttf": "empty" },
});
const text = (end) => result.outputFiles.find((f) => f.path.endsWith(end))?.text ?? "";
// Inside a script element neither of these may occur; in JavaScript "\x3c" in a string is the same text.
const script = text(".js").replaceAll("</script", "\\x3c/script").replaceAll("<!--", "\\x3c!--");
if (/<\/script|<!--|@ANAGYRE_/i.test(script)) throw new Error("the bundle contains what would end its element");
const style = text(".css");
if (/<\/style/i.test(style)) throw new Error("the style sheet contains what would end its element");
const hash = createHash("sha256").update(script, "utf8").digest("base64");
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${hash}'`,
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "media-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const page = readFileSync(join(here, "src/page.html"), "utf8");
const parts = { "@POLICY@": policy, "@STYLE@": style, "@SCRIPT@": script };
writeFileSync(process.argv[2], page.replace(/@(POLICY|STYLE|SCRIPT)@/g, (mark) => parts[mark]));
