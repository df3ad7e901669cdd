// Calls that send the statements of typical queries and of suggestions, for the golden files of statements
// (test/queue). The call of a query sends the statements of compileQuery(), and then a statement that selects the
// matching jobs with the compiled condition.
import { type Database, query } from "../../src/database/database.ts";
import { errorGroup } from "../../src/domain/error-group.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { suggest } from "../../src/insight/suggest/suggest.ts";
import { suggestNames } from "../../src/insight/suggest/suggest-names.ts";

const SEAT = errorGroup("Error: no seat is left in row 7");

/** Takes the place of PostgreSQL: returns a row for most statements of the calls below. */
function answer(text: string): Record<string, unknown> {
  if (text.includes("tablesample")) {
    return { task_id: 1, task: "mail", start: "Error: no seat is left in row 8", is_whole: true };
  }
  if (text.includes(" as us")) return { us: "1770000000000000" };
  if (text.includes("as collation")) return { collation: "C" };
  if (text.includes("key >=") && !text.includes("--")) return { id: "5" };
  if (text.includes(")::text as ids")) return { ids: "{3,4}" };
  if (text.includes("is_stale")) return { id: "w", is_stale: true };
  if (text.includes("has_table_privilege")) return { present: true };
  if (text.includes("is_task")) return { is_task: true, id: 1, name: "mail" };
  if (text.includes("as tasks")) return { tasks: "{1}", queues: "{}" };
  return { id: null, key: null, task_id: null, queue_id: null };
}

const shown = (text: string) => async (db: Database) => {
  const compiled = await compileQuery(db, text);
  await query(
    db,
    (schema) => `-- ${text}
select jobs.id, ${compiled.marks(2)} as marks
from ${schema}._private_jobs as jobs
where jobs.id > $1::bigint
and ${compiled.sql(2)}
order by jobs.id`,
    ["0", ...compiled.values],
  );
};

const typical: Readonly<Record<string, string>> = {
  failed: "is:failed failed<2h task:mail -error:timeout",
  waiting: "is:ready,blocked due<+10m queue=none",
  stuck: "is:stuck or running>10m worker:host*",
  fetched: "is:fetched or is:running or is:locked",
  key: "key:user-*",
  text: "etimedout is:retrying",
  unicode: '"größe" -is:scheduled',
  payload: 'payload.to."odd name"[0].x:7,"a/b" created:2026-01-31',
  mixed: "payload.a>5 or is:late",
  group: 'group:"Error: connect ETIMEDOUT #:#" left:1..3',
  fingerprint: `group:${SEAT.fingerprint}`,
};

type QueryCall = readonly [(db: Database) => Promise<unknown>, typeof answer];

export const queryCalls: Readonly<Record<string, QueryCall>> = {
  ...Object.fromEntries(
    Object.entries(typical).map(([name, text]): [string, QueryCall] => [
      `query-${name}`,
      [shown(text), answer],
    ]),
  ),
  "suggest-names": [(db) => suggest(db, "worker:x", 8), answer],
  "suggest-similar-names": [(db) => suggestNames(db, "nmae", []), () => ({ name: "far-from-it" })],
  "suggest-flags": [(db) => suggest(db, "flag:", 5), answer],
  "suggest-payload": [(db) => suggest(db, "payload.", 8), answer],
};
