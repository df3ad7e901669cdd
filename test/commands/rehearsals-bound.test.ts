// Tests how many rehearsals are stored. A rehearsal is stored until its operation starts, but at most for a quarter of
// an hour. If there are more than a thousand rehearsals, the oldest are deleted. The table of rehearsals also has the
// names that useOnce() has recorded. These names do not count as rehearsals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useOnce } from "../../src/commands/audit/use-once.ts";
import { rehearse } from "../../src/commands/operations/rehearse/rehearse.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import { beginWith, operationTools } from "./operation-tools.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));

test("Of many rehearsals only the newest thousand stay stored, and the newest one can be started.", async () => {
  await queue.sql(
    `insert into worker._private_rehearsals (id, expires_at, rehearsal)
     select 'r' || n, now() + n * interval '1 millisecond', '{}' from generate_series(1, 6000) as n`,
  );
  const { operation } = await beginWith(operationTools(queue.db), "fail", "task:mine", {});
  assert.equal(operation.action, "fail");
  const [row] = await queue.sql(
    "select count(*)::int as count, min(id) filter (where id = 'r6000') as newest from worker._private_rehearsals",
  );
  assert.deepEqual(row, { count: 999, newest: "r6000" });
});

test("A used name cannot be used again until it expires, however many rehearsals are stored.", async () => {
  const soon = Date.now() + 60_000;
  assert.equal(await useOnce(queue.db, "ticket", soon), true);
  await queue.sql(
    `insert into worker._private_rehearsals (id, expires_at, rehearsal)
     select 'r' || n, now() + interval '15 minutes', '{}' from generate_series(1, 1000) as n`,
  );
  const with_ = operationTools(queue.db);
  await rehearse(with_, { query: "task:mine", action: "fail", changes: {} });
  assert.equal(await with_.store.take("used ticket"), null);
  assert.equal(await useOnce(queue.db, "ticket", soon), false);
});

test("A used name cannot be used again if the database's clock is ahead of the process's.", async () => {
  const soon = Date.now() - 60_000;
  assert.equal(await useOnce(queue.db, "early", soon), true);
  await rehearse(operationTools(queue.db), { query: "task:mine", action: "fail", changes: {} });
  assert.equal(await useOnce(queue.db, "early", soon), false);
});
