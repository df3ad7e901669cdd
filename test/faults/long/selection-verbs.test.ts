// A short selection of pauses and cancels under faults. `npm run test:faults` measures their times, too.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as verbs } from "../groups/verbs/group.ts";

for (const mode of ["safe", "fast"] as const) {
  test(`No paused or cancelled job starts, through kills, freezes and a restart (${mode} mode).`, () =>
    selection(verbs, { modes: [mode] }));
}
