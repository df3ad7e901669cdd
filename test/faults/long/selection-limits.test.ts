// A short selection of limits under faults. `npm run test:faults` also measures which share of each limit is used.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as limits } from "../groups/limits/group.ts";

// Both modes together need 90 seconds on a quiet machine.
const options = { timeout: 300_000 };

test("No limit is exceeded and no job is lost, through kills, freezes and a crash.", options, () =>
  selection(limits, { modes: ["safe", "fast"] }),
);
