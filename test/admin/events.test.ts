// The event stream over a real socket: what it says, when it says nothing, and who may watch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type RawConnection } from "../http/raw-client.ts";
import { startAdmin, type TestAdmin } from "./admin-harness.ts";

async function watch({ port }: TestAdmin): Promise<RawConnection> {
  const viewer = await connect(port);
  viewer.socket.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return viewer;
}

const withoutMoments = (json: object) =>
  JSON.parse(JSON.stringify(json).replaceAll(/"(\w*as_of)":"[^"]*"/g, '"$1":""'));

/** The overviews in a stream so far. */
function overviews(text: string) {
  return [...text.matchAll(/^event: overview\ndata: (.*)\n$/gm)].map(([, data = ""]) =>
    JSON.parse(data),
  );
}

test("A viewer is shown the overview at once, and again when it has changed.", async () => {
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

test("A second viewer is shown at once what the first one sees, and nobody is asked again.", async () => {
  const admin = await startAdmin();
  const first = await watch(admin);
  await first.received(/event: overview/);
  let asked = 0;
  admin.pool.on("acquire", () => {
    asked += 1;
  });
  const others = await Promise.all(Array.from({ length: 50 }, () => watch(admin)));
  await Promise.all(others.map((other) => other.received(/event: overview/)));
  // The loop itself may have come round once, with its five statements, but not fifty times.
  assert.ok(asked <= 10, `${asked} statements for 50 viewers`);
  for (const { socket } of [first, ...others]) socket.destroy();
});

test("A write is in the overview that is read after it, however many read.", async () => {
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
  for (const viewer of viewers) assert.match(await viewer.end(), /\r\n0\r\n\r\n$/);
});
