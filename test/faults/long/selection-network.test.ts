// A short selection of network faults, checked by the results of adds and by the oracle. `npm run test:faults` has all
// of them.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as adds } from "../groups/adds/group.ts";
import { group as network } from "../groups/network/group.ts";

test("The caller of an add gets the right result, wherever the connection is cut.", () =>
  selection(adds));

test("Nothing is lost, doubled beyond what the mode permits, or out of order when connections are slow, reset and cut.", () =>
  selection(network, { modes: ["safe", "fast"] }));
