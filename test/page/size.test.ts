// What a browser has to load before it shows anything: the module and its host.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { test } from "node:test";

const FILES = ["admin.js", "admin_ui.js", "admin_ui_bg.wasm"];
const MOST_BYTES = 260_000;

test("The module and its host take no more than 260 KB.", async () => {
  const folder = new URL("../../dist/ui/", import.meta.url);
  const sizes = await Promise.all(FILES.map((name) => stat(new URL(name, folder))));
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  assert.ok(bytes <= MOST_BYTES, `they take ${bytes} bytes`);
});
