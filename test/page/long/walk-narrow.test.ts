// Every page on phones and zoomed; in a file of its own, which has a time limit.
import { test } from "node:test";
import { startAdmin, type TestAdmin } from "../harness.ts";
import { accessible, adminWithSamples, receipts, smallTargets, walk } from "../walk.ts";

let sampled: TestAdmin;
/** Without our extensions, and without a receipt. */
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

// Two hundred per cent of 1440 pixels are a window of 720, each of its pixels four.
walk(() => plain, {
  name: "at 200 % zoom",
  viewport: { width: 720, height: 450 },
  deviceScaleFactor: 2,
});
