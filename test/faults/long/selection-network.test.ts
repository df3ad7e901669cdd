// Runs a short selection of faults of the network, and checks the answers to adds and the runs of jobs. All faults are
// run by `npm run test:faults`.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as adds } from "../groups/adds/group.ts";
import { group as network } from "../groups/network/group.ts";

test("The caller of an add gets the right result, wherever the connection is cut.", () =>
  selection(adds));

test("When connections are slow, reset and cut, no job is lost, runs more often than its mode permits, or runs out of order.", () =>
  selection(network, { modes: ["safe", "fast"] }));
