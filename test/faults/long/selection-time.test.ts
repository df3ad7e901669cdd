// Tests jobs that run for many hours, and many jobs that are due at the same moment. The faults of clocks are only in
// `npm run test:faults`, because they need libfaketime or take minutes.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as clocks } from "../groups/clocks/group.ts";
import { group as longJobs } from "../groups/long-jobs.ts";

test("A job of many hours keeps its lock, and the lock of its queue, beside Graphile workers.", () =>
  selection(longJobs, { modes: ["safe", "fast"] }));

test("A thousand jobs that are due at the same moment run once each, and none starts before that moment.", () =>
  selection(clocks, { modes: ["safe", "fast"] }));
