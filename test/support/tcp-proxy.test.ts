// The proxy's faults, on bare sockets.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { random } from "./random-calls.ts";
import { Messages } from "./tcp-proxy/messages.ts";
import { login, message, wired } from "./tcp-proxy/wired.ts";
import { until } from "./until.ts";

describe("Through the proxy", () => {
  test("bytes pass as they are, both ways, with their ends.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    const dice = random(1);
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => dice(256)));
    client.say(bytes);
    server.say(bytes.subarray(0, 1_000_000));
    server.socket.end();
    await until("the end has come", async () => client.hasEnded);
    assert.ok(bytes.subarray(0, 1_000_000).equals(Buffer.from(client.heard, "latin1")));
    client.socket.end();
    await until("the other end has come", async () => server.hasEnded);
    assert.ok(bytes.equals(Buffer.from(server.heard, "latin1")));
    await until("nothing is left of it", async () => at.proxy.open === 0);
  });

  test("what is no PostgreSQL passes as well.", async () => {
    await using at = await wired();
    at.proxy.cutBehind(1);
    const { client, server } = await at.pair(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    server.say("HTTP/1.1 200 OK\r\n\r\n");
    await client.hears("HTTP/1.1 200 OK\r\n\r\n");
    assert.equal(at.proxy.cuts, 0);
  });

  test("it takes as long as it is told, in its order.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.delay(100);
    const startedAt = performance.now();
    client.say("a");
    await until("the first is on its way", async () => client.socket.bytesWritten > 0);
    client.say("b");
    await server.hears("ab");
    assert.ok(performance.now() - startedAt >= 99);
    at.proxy.calm();
  });

  test("so much passes in a second, and no more.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.throttle(10_000);
    const startedAt = performance.now();
    client.say("x".repeat(2_000));
    await server.hears("x".repeat(2_000));
    assert.ok(performance.now() - startedAt >= 180);
  });

  test("nothing passes while it is mute, and all of it afterwards.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.mute();
    client.say("asked");
    server.say("told");
    const later = await at.connect();
    later.say(login("later"));
    client.socket.end();
    at.proxy.of("nobody").resume();
    // Another connection would have had its turn by now.
    await using other = await wired();
    const there = await other.pair();
    there.client.say("x");
    await there.server.hears("x");
    assert.deepEqual([client.heard, server.heard, server.hasEnded], ["", "", false]);
    at.proxy.resume();
    await Promise.all([client.hears("told"), server.hears("asked")]);
    await until("the end has come, too", async () => server.hasEnded);
  });

  test("one direction may be mute, or what is established only.", async () => {
    await using at = await wired();
    const first = await at.pair();
    at.proxy.mute("established", "answers");
    first.client.say("asked");
    first.server.say("told");
    await first.server.hears("asked");
    const second = await at.pair();
    second.server.say("told");
    await second.client.hears("told");
    assert.equal(first.client.heard, "");
  });

  test("a reset is heard at both ends.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.reset();
    await until("both know", async () => client.error !== "" && server.error !== "");
    assert.deepEqual([client.error, server.error], ["ECONNRESET", "ECONNRESET"]);
    assert.equal(at.proxy.open, 0);
  });

  test("what is about to end can be reset, too.", async () => {
    await using at = await wired();
    await at.pair();
    at.proxy.halfClose("answers");
    at.proxy.reset();
    await until("nothing is left of it", async () => at.proxy.open === 0);
  });

  test("one direction ends, and the other goes on.", async () => {
    for (const direction of ["requests", "answers"] as const) {
      await using at = await wired();
      const { client, server } = await at.pair();
      at.proxy.halfClose(direction);
      const [closed, open] = direction === "requests" ? [server, client] : [client, server];
      await until("the end has come", async () => closed.hasEnded);
      closed.say("still here");
      await open.hears("still here");
    }
  });

  test("an end is lost, and the other one does not hear of it.", async () => {
    for (const lost of ["client", "server"] as const) {
      await using at = await wired();
      const { client, server } = await at.pair();
      at.proxy.lose(lost);
      const [gone, left] = lost === "client" ? [client, server] : [server, client];
      await until("it is gone", async () => gone.error === "ECONNRESET");
      left.say("anybody?");
      assert.deepEqual([left.hasEnded, left.error, at.proxy.open], [false, "", 1]);
    }
  });
});

describe("Messages", () => {
  const three = [message("Q", "select 1"), message("S"), message("D", "x".repeat(40_000))];
  const text = Buffer.concat(three);

  test("end where they end, however they are cut into chunks.", () => {
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

  test("are counted in either direction, and cut behind the n-th.", async () => {
    for (let count = 0; count <= 3; count++) {
      for (const direction of ["requests", "answers"] as const) {
        await using at = await wired();
        const { client, server } = await at.pair();
        at.proxy.cutBehind(count, { direction });
        const [from, to] = direction === "requests" ? [client, server] : [server, client];
        to.say(message("Z"));
        from.say(text.subarray(0, 7));
        from.say(text.subarray(7));
        from.say(message("Z"));
        await until("it is cut", async () => client.error === "ECONNRESET");
        await to.hears(Buffer.concat(three.slice(0, count)));
        assert.equal(at.proxy.cuts, 1);
        const next = await at.pair();
        next.client.say(message("Z"));
        await next.server.hears(message("Z"));
      }
    }
  });

  test("may be torn.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.cutBehind(1, { direction: "requests", isTorn: true });
    client.say(Buffer.concat([message("S"), message("Q", "select 11")]));
    await until("it is cut", async () => client.error === "ECONNRESET");
    await server.hears(Buffer.concat([message("S"), message("Q", "select 11").subarray(0, 7)]));
  });

  test("are cut before the one that says so, also where its words are split.", async () => {
    await using at = await wired();
    const { client, server } = await at.pair();
    at.proxy.cutAnswer("COMMIT");
    server.say(message("C", "BEGIN"));
    await client.hears(message("C", "BEGIN"));
    const commit = message("C", "COMMIT");
    server.say(commit.subarray(0, 8));
    await client.hears(Buffer.concat([message("C", "BEGIN"), commit.subarray(0, 8)]));
    server.say(commit.subarray(8));
    await until("it is cut", async () => client.error === "ECONNRESET");
    assert.equal(client.heard.length, message("C", "BEGIN").length + 8);
  });
});
