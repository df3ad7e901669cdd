// A brief run of the fault group `kill`. Its result is checked by the oracle (test/worker/oracle.ts).
// `npm run test:faults` runs all groups, with more repetitions, and also checks bounds for times.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as kill } from "../groups/kill.ts";

test("When processes are killed, no job is lost, no job runs more often than its mode permits, and named queues stay in order.", () =>
  selection(kill, { modes: ["safe", "fast"] }));
