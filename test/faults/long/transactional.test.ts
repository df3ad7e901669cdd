// Kills processes around the commit of a transactional task, a few times. A run of
// `npm run test:faults -- --group transactional` has 1,000 kills.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group } from "../groups/transactional.ts";

test("A transactional task has its effect once, at whatever point its process is killed.", () =>
  selection(group));
