// The rules of accessibility on a tablet and on a phone; in a file of their own, which has a time limit.
import { test } from "node:test";
import { followsTheRules, furnishedAdmin } from "./accessibility.ts";
import type { TestAdmin } from "./harness.ts";

let admin: TestAdmin;
test("There is something to look at on every page.", async () => {
  admin = await furnishedAdmin();
});

for (const width of [1024, 390]) followsTheRules(() => admin, width);
