// Tests the statements that an export sends, and the lines and the cursor that it returns.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueryConfig } from "pg";
import { boundedQueryable } from "../../src/database/connection/pool.ts";
import type { Database } from "../../src/database/database.ts";
import { type Export, exportJobs } from "../../src/insight/export/export-jobs.ts";
import { exportRequest, type GivenExport } from "../../src/insight/export/export-request.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const never = new AbortController().signal;

/** `before` is called before each statement. */
function watched(before: (text: string) => Promise<void> | void = () => {}): {
  db: Database;
  sent: QueryConfig[];
} {
  const sent: QueryConfig[] = [];
  const client = {
    query: async (config: QueryConfig) => {
      sent.push(config);
      await before(config.text);
      return queue.pool.query(config);
    },
  };
  return { db: { ...queue.db, client } as Database, sent };
}

const begin = (db: Database, given: GivenExport) =>
  exportJobs({ steps: db, large: db }, exportRequest(given));

async function textOf(begun: Export): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of begun.pieces(never)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

async function fill(payload: string, count: number): Promise<void> {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  await queue.sql(`insert into worker._private_jobs (task_id, payload)
    select 1, ${payload} from generate_series(1, ${count}) n`);
}

const idsOf = (text: string) =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id as number]));

test("An export reads each chunk of lines with one statement. Other statements find the ids that match its query.", async () => {
  await fill("to_json(n)", 12_000);
  const isOfLines = ({ text }: QueryConfig) => text.includes("as lines");
  for (const [q, jobs] of [
    ["", 12_000],
    ["id:3001..9000 attempts:0", 6_000],
  ] as const) {
    const { db, sent } = watched();
    const pieces: Buffer[] = [];
    for await (const piece of (await begin(db, { q, columns: "id" })).pieces(never)) {
      pieces.push(Buffer.from(piece));
    }
    const ids = idsOf(Buffer.concat(pieces).toString());
    assert.deepEqual(
      ids,
      Array.from({ length: jobs }, (_, n) => n + (q === "" ? 1 : 3_001)),
    );
    const others = sent.length - sent.filter(isOfLines).length;
    if (q === "") {
      // The last statement for lines finds no lines. The only other statement reads the highest id.
      assert.deepEqual([sent.filter(isOfLines).length, others], [pieces.length + 1, 1]);
    } else assert.equal(sent.filter(isOfLines).length, pieces.length);
  }
});

test("While the client reads a chunk, the export prepares only the next chunk.", async () => {
  await fill("json_build_object('text', repeat(md5(n::text), 30))", 12_000);
  const { db, sent } = watched();
  const pieces = (await begin(db, { withPayload: true })).pieces(never);
  const chunks = () => sent.filter(({ text }) => text.includes("as lines")).length;
  for (let read = 1; read <= 4; read++) {
    await pieces.next();
    assert.equal(chunks(), read + 1);
    for (let turn = 0; turn < 20; turn++) await queue.sql("select 1");
    assert.equal(chunks(), read + 1, "no further chunk is prepared before the next read");
  }
  await pieces.return();
  assert.equal(chunks(), 5);
});

test("An export adapts its estimate of the size of decompressed payloads, and its chunks stay small.", async () => {
  // Each payload has 3 kB, or 1.5 kB when compressed.
  const words =
    "string_agg(md5((n * 100 + word)::text) || ' and again, and again, and once more ', '')";
  await fill(`to_json((select ${words} from generate_series(1, 45) as word))`, 3_000);
  const { db, sent } = watched();
  let most = 0;
  let bytes = 0;
  for await (const piece of (await begin(db, { withPayload: true })).pieces(never)) {
    most = Math.max(most, piece.length);
    bytes += piece.length;
  }
  assert.ok(bytes > 6_000_000);
  assert.ok(most < 4_000_000, `the largest piece has ${most} bytes`);
  // The last parameter of a statement for lines is the estimate, as a share of the largest possible size.
  const taken = sent.map(({ values = [] }) => Number(values.at(-1)));
  assert.ok(
    taken.includes(1) && taken.includes(0.25),
    `the estimates, as shares of the largest possible size, are ${taken}`,
  );
});

test("Payloads that compress to a hundredth of their size are not read all at once.", async () => {
  await fill(
    "case when n <= 500 then to_json(n) else json_build_object('x', repeat('x', 400000)) end",
    560,
  );
  let most = 0;
  const begun = await begin(watched().db, { withPayload: true });
  for await (const piece of begun.pieces(never)) most = Math.max(most, piece.length);
  assert.equal(begun.progress().lines, 560);
  assert.ok(most < 4_500_000, `the largest piece has ${most} bytes`);
});

test("Jobs that are added during an export, or deleted before the export reads them, are left out.", async () => {
  await fill("to_json(n)", 3_000);
  let chunks = 0;
  const { db } = watched(async (text) => {
    if (!text.includes("as lines")) return;
    chunks += 1;
    if (chunks === 2) {
      await queue.sql("delete from worker._private_jobs where id between 501 and 2500");
      await queue.sql("insert into worker._private_jobs (task_id) values (1)");
    }
  });
  const ids = idsOf(await textOf(await begin(db, { q: "attempts:0", columns: "id" })));
  assert.deepEqual([ids.length, ids.at(499), ids.at(500), ids.at(-1)], [1_000, 500, 2_501, 3_000]);
});

test("A line too large for a chunk is written whole and in its place, in both formats.", async () => {
  await fill(
    `case when n = 3 then json_build_object('a', repeat('ü"' || chr(10), 1500000))
      when n = 4 then (E'[\\n' || repeat(E'1,\\r\\n', 300000) || '2]')::json else to_json(n) end`,
    6,
  );
  await queue.sql(
    `update worker._private_jobs set key = E'\\x01payload\\x01', last_error = '%s %1$s'` +
      " where id = 3",
  );
  const rows = await queue.sql<{ payload: string }>(
    "select payload::text as payload from worker._private_jobs order by id",
  );
  const begun = await begin(queue.db, { columns: "id,payload,key,last_error" });
  const json = await textOf(begun);
  const expected = rows.map(({ payload }, at) => {
    const rest =
      at === 2
        ? '"key":"\\u0001payload\\u0001","last_error":"%s %1$s"'
        : '"key":null,"last_error":null';
    return `{"id":${at + 1},"payload":${payload.replaceAll(/[\r\n]/g, " ")},${rest}}\n`;
  });
  assert.ok(json === expected.join(""));
  assert.equal(begun.progress().lines, 6);
  const csv = await textOf(await begin(queue.db, { columns: "id,payload,key", format: "csv" }));
  const quoted = rows.map(({ payload }, at) => {
    const key = at === 2 ? '"\u0001payload\u0001"' : "";
    return `${at + 1},"${payload.replaceAll('"', '""')}",${key}\r\n`;
  });
  assert.ok(csv === `id,payload,key\r\n${quoted.join("")}`);
});

test("From the cursor of an interrupted export, another export continues after the last line.", async () => {
  await fill("to_json(n)", 4_000);
  for (const q of ["", "attempts:0"]) {
    let chunks = 0;
    const { db } = watched((text) => {
      if (text.includes("as lines") && ++chunks === 3) throw new Error("cut");
    });
    const begun = await begin(db, { q, columns: "id" });
    assert.equal(begun.progress().cursor, null);
    const ids: number[] = [];
    await assert.rejects(async () => {
      for await (const piece of begun.pieces(never)) ids.push(...idsOf(piece.toString()));
    }, /cut/);
    const { lines, cursor, isInLine } = begun.progress();
    assert.deepEqual([lines, isInLine], [ids.length, false]);
    assert.match(cursor ?? "", new RegExp(`^${ids.at(-1)}-4000(-\\d+)?$`));
    const rest = await begin(queue.db, { q, columns: "id", cursor: cursor ?? "" });
    ids.push(...idsOf(await textOf(rest)));
    assert.deepEqual(
      ids,
      Array.from({ length: 4_000 }, (_, n) => n + 1),
    );
  }
});

test("An export that finds nothing for a long time reports its progress, and ends when its reader leaves.", async () => {
  await fill("to_json(n)", 30_000);
  // Each search for ids is so slow that one walk (src/insight/walk) has time for only a part of the jobs.
  const { db, sent } = watched(async (text) => {
    if (text.includes("as ids")) await queue.sql("select pg_sleep(0.06)");
  });
  const leaving = new AbortController();
  const begun = await begin(db, { q: 'payload:"29999"', columns: "id" });
  const places: number[] = [];
  for await (const piece of begun.pieces(leaving.signal)) {
    const { cursor } = begun.progress();
    if (piece.length === 0 && cursor !== null) places.push(Number(cursor.split("-")[0]));
  }
  assert.ok(places.length > 0 && begun.progress().lines === 1);
  assert.deepEqual(
    places,
    [...new Set(places)].toSorted((a, b) => a - b),
  );
  const rest = await begin(db, {
    q: 'payload:"29999"',
    columns: "id",
    cursor: `${places[0]}-30000`,
  });
  assert.equal(await textOf(rest), '{"id":29999}\n');
  sent.length = 0;
  const left = await begin(db, { q: "payload:nowhere", columns: "id" });
  for await (const _ of left.pieces(leaving.signal)) leaving.abort();
  const until = sent.length;
  for (let turn = 0; turn < 20; turn++) await queue.sql("select 1");
  assert.equal(sent.length, until);
});

test("If a cursor contains the last id to export, an export from this cursor ends with the first step that goes beyond that id.", async () => {
  await fill("to_json(n)", 12_000);
  const { db, sent } = watched(async (text) => {
    if (text.includes("as ids")) await queue.sql("select pg_sleep(0.06)");
  });
  const begun = await begin(db, { q: "payload:nowhere", columns: "id", cursor: "50-100" });
  assert.equal(await textOf(begun), "");
  const walks = sent.filter(({ text }) => text.includes("as ids"));
  assert.equal(walks.length, 1, "the export ends with its first step");
  assert.equal(begun.progress().cursor?.split("-")[0], "50");
});

test("If rows take long to read, an export adapts the size of its steps, so that at most three statements take too long.", async () => {
  await fill("to_json(n)", 300);
  // A statement for more than 100 rows fails as if it had exceeded its time limit.
  let late = 0;
  const client = {
    query: async (config: QueryConfig) => {
      const { text, values = [] } = config;
      const rows = text.includes("as is_match") ? Number(values[1]) : 0;
      if (rows <= 100) {
        await queue.sql(`select pg_sleep(${rows * 0.005})`);
        return queue.pool.query(config);
      }
      late += 1;
      throw Object.assign(new Error("too late"), { code: "57014" });
    },
  };
  const db = { ...queue.db, client } as unknown as Database;
  const begun = await begin(db, { q: "attempts>0 or payload:299", columns: "id" });
  assert.deepEqual(idsOf(await textOf(begun)), [299]);
  // If each walk began with steps of the full size again, nine statements would take too long.
  assert.ok(late <= 3, `${late} statements took too long`);
});

test("While an export waits for a slow reader, it holds no snapshot in the database.", async () => {
  await fill("json_build_object('text', repeat(md5(n::text), 30))", 12_000);
  const bounds = { statementTimeoutMs: 500, lockTimeoutMs: 400, readOnly: true, isPlain: true };
  const db = { ...queue.db, client: boundedQueryable(queue.pool, bounds) };
  const pieces = (await begin(db, { withPayload: true })).pieces(never);
  const held = async () => {
    const rows = await queue.sql<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
      and (backend_xmin is not null or state <> 'idle') and backend_type = 'client backend'`,
    );
    return rows[0]?.n;
  };
  for (let read = 0; read < 3; read++) {
    await pieces.next();
    while ((await held()) !== 0);
  }
  await pieces.return();
});
