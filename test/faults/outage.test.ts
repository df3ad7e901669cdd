// Outages of PostgreSQL, a short selection, held to the oracle; `npm run test:faults` has all of them.
import { test } from "node:test";
import { selection } from "./field/selection.ts";
import { group as outage } from "./groups/outage/group.ts";

test("Nothing is lost or doubled when PostgreSQL goes away, refuses, and ends sessions.", () =>
  selection(outage, { modes: ["safe", "fast-with-queues"] }));
