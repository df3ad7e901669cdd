// Tests the proxy of tcp-proxy.ts in front of a real PostgreSQL. The proxy can break the connections of a single
// application without the others, and it can cut a connection after a given number of messages.
import assert from "node:assert/strict";
import net from "node:net";
import { describe, test } from "node:test";
import pg from "pg";
import { emptyDatabase } from "./database.ts";
import { End, login } from "./tcp-proxy/wired.ts";
import { type TcpProxy, tcpProxy } from "./tcp-proxy.ts";
import { waitUntil } from "./until.ts";

describe("In front of PostgreSQL the proxy", () => {
  const connected = async (proxy: TcpProxy, application: string) => {
    const client = new pg.Client({ connectionString: proxy.url, application_name: application });
    const lost = new Promise<void>((resolve) => client.on("end", resolve));
    client.on("error", () => {});
    await client.connect();
    return { client, lost };
  };

  test("can reset the connections of one application, and mute the connections that this application opens later.", async () => {
    const { url } = await emptyDatabase();
    await using proxy = await tcpProxy(url);
    const one = await connected(proxy, "one");
    const other = await connected(proxy, "other");
    proxy.of("one").reset();
    await one.lost;
    assert.deepEqual([proxy.of("one").open, proxy.of("other").open], [0, 1]);
    proxy.of("one").mute();
    const late = new pg.Client({
      connectionString: proxy.url,
      application_name: "one",
      connectionTimeoutMillis: 200,
    });
    await assert.rejects(late.connect(), /timeout/);
    await other.client.query("select 1");
    proxy.calm();
    const again = await connected(proxy, "one");
    await Promise.all([again.client.end(), other.client.end()]);
    await waitUntil("all connections are closed", async () => proxy.open === 0);
  });

  test("counts messages after an encryption request, too.", async () => {
    const { url } = await emptyDatabase();
    await using proxy = await tcpProxy(url);
    const port = Number(new URL(proxy.url).port);
    const client = new End(net.connect(port, "127.0.0.1"));
    client.send(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    await client.receives("N");
    // Cuts after the first message of the response to the login: a message about authentication (R) or an error (E).
    proxy.cutBehind(1, { direction: "answers" });
    client.send(login("raw"));
    await waitUntil("the connection is cut", async () => client.error === "ECONNRESET");
    assert.match(client.received, /^N[RE]/);
    assert.equal(proxy.of("raw").cuts + proxy.cuts, 1);
  });

  test("cuts a connection after any message of a transaction, and afterwards only committed rows exist.", async () => {
    const { url } = await emptyDatabase();
    await using proxy = await tcpProxy(url);
    const own = new pg.Client({ connectionString: url });
    await own.connect();
    await own.query("create table t (n int)");
    let hasPassed = false;
    for (let count = 0; !hasPassed; count++) {
      const { client } = await connected(proxy, "cut");
      proxy.cutBehind(count, { direction: "requests" });
      const done = await client
        .query("begin")
        .then(() => client.query("insert into t values ($1)", [count]))
        .then(() => client.query("commit"))
        .then(
          () => true,
          () => false,
        );
      hasPassed = done && proxy.cuts === count;
      proxy.calm();
      await client.end().catch(() => {});
    }
    await waitUntil("all connections are closed", async () => proxy.open === 0);
    const { rows } = await own.query<{ n: number }>("select n from t order by n");
    await own.end();
    // The round `count` cuts the connection after `count` messages, and inserts the row `count`. The client sends
    // seven messages: begin; Parse, Bind, Describe, Execute, Sync; commit. So in round 7 the cut comes after the
    // commit, and in round 8 nothing is cut. In all earlier rounds the commit does not reach PostgreSQL.
    assert.deepEqual(
      rows.map(({ n }) => n),
      [7, 8],
    );
  });
});
