// Tests a page whose WebAssembly module is broken or has trapped. The page shows that it has stopped, and offers a
// reload. It shows no data, because the data might be incomplete.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, visit, waitForPage } from "../harness.ts";

const wasmUrl = new URL("../../../dist/ui/admin_ui_bg.wasm", import.meta.url);
/** In base64, a module whose function always traps: `(module (func (export "trap") unreachable))`. */
const TRAP = "AGFzbQEAAAABBAFgAAADAgEABwgBBHRyYXAAAAoFAQMAAAs=";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

async function assertStopped(page: Page): Promise<void> {
  const fatal = page.locator("#fatal");
  await fatal.getByText("This page has stopped.").waitFor();
  assert.equal(
    await page.locator("main, dialog, table").count(),
    0,
    "the page shows only the message",
  );
  assert.equal(await page.getByText("Loading").count(), 0);
  await page.unrouteAll();
  const reload = fatal.getByRole("button", { name: "Reload the page" });
  assert.ok(await reload.evaluate((button) => button === document.activeElement));
  await reload.click();
  await waitForPage(page, "Jobs");
  assert.ok(await fatal.isHidden());
}

const broken: Record<string, (wasm: Buffer) => Buffer> = {
  "cut in half": (wasm) => wasm.subarray(0, wasm.length / 2),
  "not WebAssembly": () => Buffer.from("<!doctype html><p>Gateway error</p>"),
  "of another version": () => Buffer.from(TRAP, "base64"),
};

for (const [how, change] of Object.entries(broken)) {
  test(`A module that is ${how} is reported, and a reload repairs the page.`, async () => {
    const body = change(await readFile(wasmUrl));
    const prepare = (page: Page) =>
      page.route("**/admin_ui_bg.wasm", (route) =>
        route.fulfill({ body, contentType: "application/wasm" }),
      );
    const work = ({ page }: { page: Page }) => assertStopped(page);
    await visit(admin, "/jobs", work, { prepare, mayMeet: /^error: \w*Error/ });
  });
}

test("A trap while a dialog is open stops the page, and nothing covers the message.", async () => {
  const prepare = (page: Page) => page.addInitScript(trapOnDemand, TRAP);
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, "Jobs");
    await page.getByRole("button", { name: "Add a job…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.evaluate(() => Object.assign(globalThis, { trapNow: true }));
    await page.locator("#field-identifier").press("x");
    await assertStopped(page);
  };
  await visit(admin, "/jobs", work, { prepare, mayMeet: /^error: RuntimeError: unreachable/ });
});

/**
 * Runs in the page before the WebAssembly module is loaded. Replaces the module's `dispatch` with a function that traps
 * once `trapNow` is set.
 */
function trapOnDemand(trap: string): void {
  const instantiate = WebAssembly.instantiate as (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ) => Promise<WebAssembly.Instance>;
  const bytes = Uint8Array.from(atob(trap), (c) => c.charCodeAt(0));
  const trapping = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const replaced = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    const { exports } = await instantiate(module, imports);
    const dispatch = exports["dispatch"] as (...given: unknown[]) => void;
    const either = (...given: unknown[]) =>
      "trapNow" in globalThis ? (trapping["trap"] as () => void)() : dispatch(...given);
    return { exports: { ...exports, dispatch: either } };
  };
  Object.assign(WebAssembly, { instantiate: replaced });
}
