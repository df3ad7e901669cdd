// Tests the compressed size of the client's code: the WebAssembly module, and the scripts that start it and connect it
// with the page. Until a browser has loaded them, the page shows only a skeleton.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const FILES = ["admin.js", "admin_ui.js", "admin_ui_bg.wasm"];
const MAX_BYTES = 114_000;

test("The WebAssembly module and its scripts have at most 114 KB with brotli.", async () => {
  const file = new URL("../../dist/ui/assets.json", import.meta.url);
  const assets: Record<string, { br: string }> = JSON.parse(await readFile(file, "utf8"));
  const sizes = FILES.map((name) => Buffer.from(assets[name]?.br ?? "", "base64").length);
  assert.ok(sizes.every((size) => size > 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= MAX_BYTES, `the files have ${bytes} bytes with brotli`);
});
