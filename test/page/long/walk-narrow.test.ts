// Every page on phones, and zoomed. It is a separate file, because each file has a time limit.
import { test } from "node:test";
import { startAdmin, type TestAdmin } from "../harness.ts";
import { accessible, adminWithSamples, receipts, smallTargets, walk } from "../walk.ts";

let sampled: TestAdmin;
/** An admin whose schema has no optional extensions, and which has run no operation. */
let plain: TestAdmin;
test("The servers with sample data start.", async () => {
  [sampled, plain] = await Promise.all([adminWithSamples(), startAdmin()]);
});

walk(() => sampled, {
  name: "at 390 pixels",
  viewport: { width: 390, height: 900 },
  checks: [accessible, smallTargets],
  more: receipts,
});

walk(() => plain, { name: "at 320 pixels", viewport: { width: 320, height: 640 } });

// At 200 % a window of 1,440 pixels has the layout of 720 pixels, each drawn with four.
walk(() => plain, {
  name: "at 200 % zoom",
  viewport: { width: 720, height: 450 },
  deviceScaleFactor: 2,
});
