// Measures the sizes of files that the browser loads: of the WebAssembly module and its scripts, compressed with
// Brotli, and of the fonts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Line } from "../../admin/measure.ts";
import type { PageMeasure } from "../bench.ts";

const folder = join(import.meta.dirname, "../../../../dist/ui");
const CODE = ["admin.js", "admin_ui.js", "admin_ui_bg.wasm"];

export const size: PageMeasure = { name: "size", run: async () => sizes() };

function sizes(): readonly Line[] {
  const served = JSON.parse(readFileSync(join(folder, "assets.json"), "utf8"));
  const brotli = CODE.map((name) => Buffer.from(served[name].br, "base64").length);
  const fonts = readdirSync(join(folder, "fonts")).filter((name) => name.endsWith(".woff2"));
  const fontBytes = fonts.map((name) => statSync(join(folder, "fonts", name)).size);
  return [
    atMost("WebAssembly module and its scripts, brotli", sum(brotli) / 1_000, 114, "KB"),
    atMost("fonts", sum(fontBytes) / 1_000, 60, "KB"),
  ];
}

const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);
