// Opens and checks every page (../walk.ts) at the widths of phones, and zoomed to 200 %. These sizes are not in
// walk-wide.test.ts, because each test file has a time limit.
import { test } from "node:test";
import { startAdmin, type TestAdmin } from "../harness.ts";
import { accessible, adminWithSamples, receipts, smallTargets, walk } from "../walk.ts";

let sampled: TestAdmin;
/** An admin with sample jobs, whose schema has no optional extensions. The admin has run no operation. */
let plain: TestAdmin;
test("The two admins with sample data start.", async () => {
  [sampled, plain] = await Promise.all([adminWithSamples(), startAdmin()]);
});

walk(() => sampled, {
  name: "at 390 pixels",
  viewport: { width: 390, height: 900 },
  checks: [accessible, smallTargets],
  more: receipts,
});

walk(() => plain, { name: "at 320 pixels", viewport: { width: 320, height: 640 } });

// A window of 1,440 by 900 pixels that is zoomed to 200 % has 720 by 450 CSS pixels.
walk(() => plain, {
  name: "at 200 % zoom",
  viewport: { width: 720, height: 450 },
  deviceScaleFactor: 2,
});
