// A short selection of the faults, checked by the oracle. `npm run test:faults` has all of them, longer and with their
// bounds.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as kill } from "../groups/kill.ts";

test("Nothing is lost, doubled or out of order when processes are killed.", () =>
  selection(kill, { modes: ["safe", "fast"] }));
