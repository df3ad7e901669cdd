// A short selection of PostgreSQL's outages and failovers. `npm run test:faults` has all, with bounds for times.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as failover } from "../groups/failover/group.ts";
import { group as outage } from "../groups/outage/group.ts";

test("Nothing is lost, or doubled beyond what the mode permits, when PostgreSQL goes away, refuses, and ends sessions.", () =>
  selection(outage, { modes: ["safe", "fast"] }));

test("When a standby takes over under load, only jobs that had not been replicated are lost.", () =>
  selection(failover, { modes: ["safe"] }));
