// A short selection of pauses and cancels under faults. `npm run test:faults` measures their times, too.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as verbs } from "../groups/verbs/group.ts";

// Both modes together need 90 seconds on a quiet machine.
const options = { timeout: 300_000 };

test(
  "What is paused or cancelled does not start, through kills, freezes and a restart.",
  options,
  () => selection(verbs, { modes: ["safe", "fast"] }),
);
