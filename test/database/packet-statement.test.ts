// Statements that are sent as bytes: rows come as text, and an error leaves the connection usable.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import pg from "pg";
import { PacketStatement } from "../../src/database/connection/packet-statement.ts";
import { emptyDatabase } from "../support/database.ts";

let client: pg.Client;
let url: string;

before(async () => {
  ({ url } = await emptyDatabase());
});

beforeEach(async () => {
  await client?.end().catch(() => {});
  client = new pg.Client({ connectionString: url, pipeline: true });
  client.on("error", () => {});
  await client.connect();
});

after(() => client.end());

const statement = (text: string) => new PacketStatement("of the test", text, "worker");

test("Rows are texts in the order of the columns, null where there is nothing.", async () => {
  const numbers = statement("select i, null, i * 2.50 from generate_series(1, $1::int) i");
  const packet = numbers.packet(["2"]);
  const expected = [
    ["1", null, "2.50"],
    ["2", null, "5.00"],
  ];
  assert.deepEqual(await numbers.send(client, packet), expected);
  assert.deepEqual(await numbers.send(client, packet), expected);
});

test("Packets and ordinary queries are answered in the order in which they were sent.", async () => {
  const echo = statement("select $1::text");
  const answers = await Promise.all([
    echo.send(client, echo.packet(["a"])),
    client.query("select 'b'").then(({ rows }) => [Object.values(rows[0])]),
    echo.send(client, echo.packet(["c"])),
  ]);
  assert.deepEqual(answers.flat(2), ["a", "b", "c"]);
});

test("A packet may begin a transaction.", async () => {
  const xid = statement("select pg_current_xact_id()");
  const [row] = await xid.send(client, xid.packet([], { begins: true }));
  const { rows } = await client.query("select pg_current_xact_id()::text as xid");
  await client.query("commit");
  assert.equal(rows[0].xid, row?.[0]);
});

test("A statement that could not be prepared is prepared by a later try.", async () => {
  const late = statement("select * from comes_later");
  const packet = late.packet([]);
  await assert.rejects(late.send(client, packet), /comes_later/);
  await client.query("create temp table comes_later as select 'here' as it");
  assert.deepEqual(await late.send(client, packet), [["here"]]);
});

test("An error of its own says what PostgreSQL says, and does not last.", async () => {
  const quotient = statement("select 1 / $1::int");
  await quotient.send(client, quotient.packet(["1"]));
  await assert.rejects(quotient.send(client, quotient.packet(["0"])), /division by zero/);
  assert.deepEqual(await quotient.send(client, quotient.packet(["1"])), [["1"]]);
});

test("Another connection prepares it for itself.", async () => {
  const one = statement("select 1");
  await one.send(client, one.packet([]));
  const other = new pg.Client({ connectionString: url, pipeline: true });
  await other.connect();
  assert.deepEqual(await one.send(other, one.packet([])), [["1"]]);
  await other.end();
});

test("A connection that is cut rejects what was sent, and what is sent afterwards.", async () => {
  const sleep = statement("select pg_sleep(60)");
  const sent = sleep.send(client, sleep.packet([]));
  client.connection.stream.destroy();
  await assert.rejects(sent);
  await assert.rejects(sleep.send(client, sleep.packet([])));
});
