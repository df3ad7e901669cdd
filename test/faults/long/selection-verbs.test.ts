// Tests pauses and cancels under faults, in brief runs. `npm run test:faults` also checks how long they take.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as verbs } from "../groups/verbs/group.ts";

for (const mode of ["safe", "fast"] as const) {
  test(`No paused job starts, and every cancelled job ends, despite kills, freezes and a restart (${mode} mode).`, () =>
    selection(verbs, { modes: [mode] }));
}
