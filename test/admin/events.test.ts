// Tests the event stream over a real socket: which events a viewer receives, when it receives them, and how many
// statements run for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type RawConnection } from "../http/raw-client.ts";
import { startAdmin, type TestAdmin } from "./admin-harness.ts";

async function watch({ port }: TestAdmin, query = "", headers = ""): Promise<RawConnection> {
  const viewer = await connect(port);
  viewer.socket.write(`GET /api/events${query} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  return viewer;
}

const withoutMoments = (json: object) =>
  JSON.parse(JSON.stringify(json).replaceAll(/"(\w*as_of)":"[^"]*"/g, '"$1":""'));

function overviews(text: string) {
  return [...text.matchAll(/^event: overview\ndata: (.*)\n$/gm)].map(([, data = ""]) =>
    JSON.parse(data),
  );
}

test("A viewer receives the overview at once, and again when it has changed.", async () => {
  const admin = await startAdmin();
  const viewer = await watch(admin);
  const first = await viewer.received(/event: overview\ndata: .*\n\n/);
  assert.match(first, /content-type: text\/event-stream/);
  assert.match(first, /cache-control: no-store/);
  const [shown] = overviews(first);
  const { body: overview } = await admin.client.get("/api/overview");
  assert.deepEqual(withoutMoments(shown), withoutMoments(overview));
  await admin.client.post("/api/jobs", { identifier: "seen" });
  const second = overviews(await viewer.received(/"total":1,/));
  assert.deepEqual(
    second.map(({ stats }) => stats.total),
    [0, 1],
  );
  viewer.socket.destroy();
});

/**
 * Counts statements from now on. The returned function returns the number of statements. Each statement takes a
 * connection from the pool, so the taken connections are counted.
 */
function countStatements({ pool }: TestAdmin): () => number {
  let statements = 0;
  pool.on("acquire", () => {
    statements += 1;
  });
  return () => statements;
}

test("After the first viewer, 199 more viewers receive the overview with at most 40 statements.", async () => {
  const admin = await startAdmin();
  const first = await watch(admin);
  await first.received(/event: overview/);
  const statements = countStatements(admin);
  const others = await Promise.all(Array.from({ length: 199 }, () => watch(admin)));
  await Promise.all(others.map((other) => other.received(/event: overview/)));
  // While the viewers connect, the feed reads a few times, but not once for each viewer.
  assert.ok(statements() <= 40, `${statements()} statements ran for 200 viewers`);
  for (const { socket } of [first, ...others]) socket.destroy();
});

test("After the last viewer and the last request, the feed's statements stop, for a small table and for a large one.", async () => {
  // The clock is the stream of another server, which sends three pings in a little more than a second.
  const clock = await watch(await startAdmin({ feed: { pingMs: 400 } }), "?events=counts");
  let ticks = 0;
  for (const feed of [{}, { smallPages: -1, awakeMs: 50 }]) {
    const admin = await startAdmin({ feed });
    const viewer = await watch(admin, "?events=pulse");
    await viewer.received(/event: pulse/);
    viewer.socket.destroy();
    assert.equal((await admin.client.get("/api/counts")).status, 200);
    const statements = countStatements(admin);
    let before = -1;
    // Reads that have begun may still run statements. The loop ends once a second has passed without a new statement.
    while (statements() !== before) {
      before = statements();
      ticks += 3;
      await clock.received(new RegExp(`(?:[\\s\\S]*?: ping\\n){${ticks}}`));
    }
  }
  clock.socket.destroy();
});

test("A viewer receives only the events that it selects, and after a reconnect only new events.", async () => {
  const admin = await startAdmin();
  const viewer = await watch(admin, "?events=pulse,counts");
  const text = await viewer.received(/event: counts\ndata: .*\n\n/);
  const shown = await viewer.received(/event: pulse\ndata: .*\n\n/);
  assert.doesNotMatch(shown, /event: overview/);
  const [, event = ""] = /((?:id: .*\n)event: pulse\n.*\n\n)/.exec(shown) ?? [];
  assert.ok(Buffer.byteLength(event) <= 300, event);
  const [, id = ""] = /id: (.*)\nevent: counts/.exec(text) ?? [];
  const back = await watch(admin, "?events=counts", `Last-Event-ID: ${id}\r\n`);
  assert.doesNotMatch(await back.received(/: ping\n/), /event: counts/);
  await admin.client.post("/api/jobs", { identifier: "news" });
  await back.received(/event: counts\ndata: \{"as_of":"[^"]*","total":\{"value":1,/);
  const wrong = await admin.client.get("/api/events?events=pulse,nonsense");
  assert.deepEqual([wrong.status, wrong.body.problems[0].field], [400, "events"]);
  viewer.socket.destroy();
  back.socket.destroy();
});

test("A stream is compressed for clients that accept compression.", async () => {
  const admin = await startAdmin();
  const viewer = await watch(admin, "", "Accept-Encoding: gzip\r\n");
  assert.match(await viewer.received(/\r\n\r\n/), /content-encoding: gzip/);
  viewer.socket.destroy();
});

test("For a small table, an overview that is requested after a write includes the write, also with concurrent readers.", async () => {
  const admin = await startAdmin();
  for (let total = 1; total <= 10; total++) {
    const readers = Array.from({ length: 5 }, () => admin.client.get("/api/overview"));
    await admin.client.post("/api/jobs", { identifier: "counted" });
    const { body } = await admin.client.get("/api/overview");
    assert.equal(body.stats.total, total);
    await Promise.all(readers);
  }
});

test("Streams end when the server stops.", async () => {
  const admin = await startAdmin();
  const viewers = [await watch(admin), await watch(admin)];
  await Promise.all(viewers.map((viewer) => viewer.received(/event: overview/)));
  await admin.server.stop();
  // A stream has no chunked encoding, so it ends with its connection. The last event is whole.
  for (const viewer of viewers) assert.match(await viewer.end(), /\n\n$/);
});
