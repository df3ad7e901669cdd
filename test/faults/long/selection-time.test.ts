// Jobs of many hours, and many jobs that are due at one moment. Faults of clocks need libfaketime, or minutes:
// `npm run test:faults` has them.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as clocks } from "../groups/clocks/group.ts";
import { group as longJobs } from "../groups/long-jobs.ts";

test("A job of many hours keeps its lock, and the lock of its queue, beside Graphile workers.", () =>
  selection(longJobs, { modes: ["safe", "fast"] }));

test("A thousand jobs that are due in one moment run once each, and none before it.", () =>
  selection(clocks, { modes: ["safe", "fast"] }));
