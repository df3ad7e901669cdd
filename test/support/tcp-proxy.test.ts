// Tests the faults that tcp-proxy.ts simulates on connections between two plain sockets, without PostgreSQL. Also tests
// that tcp-proxy/messages.ts finds the ends of PostgreSQL's messages.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { random } from "./random-calls.ts";
import { Messages } from "./tcp-proxy/messages.ts";
import { connectProxy, login, message } from "./tcp-proxy/wired.ts";
import { waitUntil } from "./until.ts";

describe("Through the proxy", () => {
  test("bytes pass unchanged in both directions, and so does the end of each direction.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    const dice = random(1);
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => dice(256)));
    client.send(bytes);
    server.send(bytes.subarray(0, 1_000_000));
    server.socket.end();
    await waitUntil(
      "the client receives the end of the server's data",
      async () => client.hasEnded,
    );
    assert.ok(bytes.subarray(0, 1_000_000).equals(Buffer.from(client.received, "latin1")));
    client.socket.end();
    await waitUntil(
      "the server receives the end of the client's data",
      async () => server.hasEnded,
    );
    assert.ok(bytes.equals(Buffer.from(server.received, "latin1")));
    await waitUntil("the proxy has no open connection", async () => at.proxy.open === 0);
  });

  test("data of a protocol other than PostgreSQL's passes, and cutBehind() does not cut the connection.", async () => {
    await using at = await connectProxy();
    at.proxy.cutBehind(1);
    const { client, server } = await at.pair(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    server.send("HTTP/1.1 200 OK\r\n\r\n");
    await client.receives("HTTP/1.1 200 OK\r\n\r\n");
    assert.equal(at.proxy.cuts, 0);
  });

  test("data is delayed as configured, in order.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.delay(100);
    const startedAt = performance.now();
    client.send("a");
    await waitUntil("the first byte is sent", async () => client.socket.bytesWritten > 0);
    client.send("b");
    await server.receives("ab");
    assert.ok(performance.now() - startedAt >= 99);
    at.proxy.calm();
  });

  test("the configured rate is not exceeded.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.throttle(10_000);
    const startedAt = performance.now();
    client.send("x".repeat(2_000));
    await server.receives("x".repeat(2_000));
    assert.ok(performance.now() - startedAt >= 180);
  });

  test("nothing passes while the proxy is muted, and everything passes afterwards.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.mute();
    client.send("asked");
    server.send("told");
    const later = await at.connect();
    later.send(login("later"));
    client.socket.end();
    at.proxy.of("nobody").resume();
    // Without mute(), the data above would have arrived by the time the data below has passed through another proxy.
    await using other = await connectProxy();
    const there = await other.pair();
    there.client.send("x");
    await there.server.receives("x");
    assert.deepEqual([client.received, server.received, server.hasEnded], ["", "", false]);
    at.proxy.resume();
    await Promise.all([client.receives("told"), server.receives("asked")]);
    await waitUntil(
      "the server receives the end of the client's data",
      async () => server.hasEnded,
    );
  });

  test("a mute can be limited to one direction and to established connections.", async () => {
    await using at = await connectProxy();
    const first = await at.pair();
    at.proxy.mute("established", "answers");
    first.client.send("asked");
    first.server.send("told");
    await first.server.receives("asked");
    const second = await at.pair();
    second.server.send("told");
    await second.client.receives("told");
    assert.equal(first.client.received, "");
  });

  test("a reset reaches both ends.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.reset();
    await waitUntil("both ends are reset", async () => client.error !== "" && server.error !== "");
    assert.deepEqual([client.error, server.error], ["ECONNRESET", "ECONNRESET"]);
    assert.equal(at.proxy.open, 0);
  });

  test("a connection of which one direction is ending can be reset.", async () => {
    await using at = await connectProxy();
    await at.pair();
    at.proxy.halfClose("answers");
    at.proxy.reset();
    await waitUntil("the proxy has no open connection", async () => at.proxy.open === 0);
  });

  test("if one direction of a connection ends, the other continues.", async () => {
    for (const direction of ["requests", "answers"] as const) {
      await using at = await connectProxy();
      const { client, server } = await at.pair();
      at.proxy.halfClose(direction);
      const [closed, open] = direction === "requests" ? [server, client] : [client, server];
      await waitUntil(
        "the end of one direction has arrived at its receiver",
        async () => closed.hasEnded,
      );
      closed.send("still here");
      await open.receives("still here");
    }
  });

  test("if a connection is lost at one end, the other end is not notified.", async () => {
    for (const lost of ["client", "server"] as const) {
      await using at = await connectProxy();
      const { client, server } = await at.pair();
      at.proxy.lose(lost);
      const [gone, left] = lost === "client" ? [client, server] : [server, client];
      await waitUntil(
        "the connection is reset at the lost end",
        async () => gone.error === "ECONNRESET",
      );
      left.send("anybody?");
      assert.deepEqual([left.hasEnded, left.error, at.proxy.open], [false, "", 1]);
    }
  });
});

describe("Messages", () => {
  const three = [message("Q", "select 1"), message("S"), message("D", "x".repeat(40_000))];
  const text = Buffer.concat(three);

  test("are separated correctly, however the bytes are divided into chunks.", () => {
    const dice = random(7);
    const start = Buffer.concat([login("me"), text, text]);
    for (let round = 0; round < 200; round++) {
      const applications: string[] = [];
      const messages = new Messages("start", (one) => {
        if (one.kind === "login") applications.push(one.application);
      });
      const ends: number[] = [];
      for (let at = 0; at < start.length; ) {
        const length = 1 + dice(dice(2) === 0 ? 4 : 60_000);
        const chunk = messages.read(start.subarray(at, at + length));
        for (const end of chunk.ends) ends.push(at + end);
        at += length;
      }
      let at = login("me").length;
      const expected = [at, ...[...three, ...three].map(({ length }) => (at += length))];
      assert.deepEqual([ends, applications], [expected, ["me"]]);
    }
  });

  test("are counted in one direction, and the connection is cut after the given number of messages.", async () => {
    for (let count = 0; count <= 3; count++) {
      for (const direction of ["requests", "answers"] as const) {
        await using at = await connectProxy();
        const { client, server } = await at.pair();
        at.proxy.cutBehind(count, { direction });
        const [from, to] = direction === "requests" ? [client, server] : [server, client];
        to.send(message("Z"));
        from.send(text.subarray(0, 7));
        from.send(text.subarray(7));
        from.send(message("Z"));
        await waitUntil("the connection is cut", async () => client.error === "ECONNRESET");
        await to.receives(Buffer.concat(three.slice(0, count)));
        assert.equal(at.proxy.cuts, 1);
        const next = await at.pair();
        next.client.send(message("Z"));
        await next.server.receives(message("Z"));
      }
    }
  });

  test("can be cut in the middle. The part before the cut passes.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.cutBehind(1, { direction: "requests", isTorn: true });
    client.send(Buffer.concat([message("S"), message("Q", "select 11")]));
    await waitUntil("the connection is cut", async () => client.error === "ECONNRESET");
    await server.receives(Buffer.concat([message("S"), message("Q", "select 11").subarray(0, 7)]));
  });

  test("pass until one contains a given text. The connection is then cut, even if the text is divided between two chunks.", async () => {
    await using at = await connectProxy();
    const { client, server } = await at.pair();
    at.proxy.cutAnswer("COMMIT");
    server.send(message("C", "BEGIN"));
    await client.receives(message("C", "BEGIN"));
    const commit = message("C", "COMMIT");
    server.send(commit.subarray(0, 8));
    await client.receives(Buffer.concat([message("C", "BEGIN"), commit.subarray(0, 8)]));
    server.send(commit.subarray(8));
    await waitUntil("the connection is cut", async () => client.error === "ECONNRESET");
    assert.equal(client.received.length, message("C", "BEGIN").length + 8);
  });
});
