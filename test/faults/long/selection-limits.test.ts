// Brief runs of the fault group `limits`, which tests limits under faults. Its full run, in `npm run test:faults`, also
// checks measured values against bounds, such as the share of a limit that workers use.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as limits } from "../groups/limits/group.ts";

for (const mode of ["safe", "fast"] as const) {
  test(`No limit is exceeded and no job is lost, through kills, freezes and a crash (${mode} mode).`, () =>
    selection(limits, { modes: [mode] }));
}
