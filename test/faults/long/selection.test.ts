// A brief run of the fault group `kill`, checked by the oracle. `npm run test:faults` runs all groups, with more
// repetitions and with bounds for times.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as kill } from "../groups/kill.ts";

test("Nothing is lost, doubled beyond what the mode permits, or out of order when processes are killed.", () =>
  selection(kill, { modes: ["safe", "fast"] }));
