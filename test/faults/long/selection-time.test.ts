// Tests jobs that run for hours, and many jobs that are due at the same moment. The latter is a part of the group
// `clocks`. The other parts of this group (wrong and jumping clocks, ticks) need libfaketime or take minutes, so only
// `npm run test:faults` runs them.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as clocks } from "../groups/clocks/group.ts";
import { group as longJobs } from "../groups/long-jobs.ts";

test("A job that runs for three simulated hours renews its lock, and the lock of its queue, beside Graphile workers.", () =>
  selection(longJobs, { modes: ["safe", "fast"] }));

test("A thousand jobs that are due at the same moment run once each, and none starts before that moment.", () =>
  selection(clocks, { modes: ["safe", "fast"] }));
