// Tests pauses and cancels under faults, with few repetitions. `npm run test:faults` has more repetitions, and
// also checks how long pauses and cancels take.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as verbs } from "../groups/verbs/group.ts";

for (const mode of ["safe", "fast"] as const) {
  test(`No paused job starts, and every cancelled job ends, despite kills, freezes and a restart (${mode} mode).`, () =>
    selection(verbs, { modes: [mode] }));
}
