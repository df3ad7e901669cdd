// A brief run of the fault group `transactional`, in which a few processes are killed around the commit of a
// transactional task. In a full run, `npm run test:faults -- --group transactional`, 1,000 processes are killed.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group } from "../groups/transactional.ts";

test("A transactional task has its effect once, at whatever point its process is killed.", () =>
  selection(group));
