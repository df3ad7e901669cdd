// Tests the admin over IPv6: its address, the Host and Origin headers, and the client's address behind a proxy.
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { createClient, recordingLogger, startAdmin } from "./admin-harness.ts";

const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
const skip = addresses.some(({ address }) => address === "::1") ? false : "::1 is not available";

test("An admin without a login on [::1] accepts only localhost and loopback addresses in Host, and refuses a write whose Origin differs from Host.", {
  skip,
}, async () => {
  const { server, port } = await startAdmin({
    configure: (builder) => builder.listenAddr("[::1]:0"),
  });
  assert.equal(server.url, `http://[::1]:${port}/`);
  const client = createClient(port, "::1");
  for (const host of [`[::1]:${port}`, "[::1]", "[0:0:0:0:0:0:0:1]", `localhost:${port}`]) {
    assert.equal((await client.send("GET", "/api/session", { headers: { host } })).status, 200);
  }
  const refusals = [
    ...["[::2]", "[::ffff:127.0.0.1]", "evil.example"].map((host) => [host, 403, "host"] as const),
    ...["::1", "[::1].evil.example"].map((host) => [host, 400, "bad_request"] as const),
  ];
  for (const refusal of refusals) {
    const [host] = refusal;
    const { status, body } = await client.send("GET", "/api/session", { headers: { host } });
    assert.deepEqual([host, status, body.code], refusal);
  }
  const write = (origin: string, token: string) =>
    client.send("POST", "/api/jobs", {
      headers: {
        host: `[::1]:${port}`,
        origin,
        "content-type": "application/json",
        "x-worker-admin-csrf": token,
      },
      body: '{"identifier":"t"}',
    });
  const { csrf_token: token } = (await client.get("/api/session")).body;
  assert.equal((await write(`http://[::1]:${port}`, token)).status, 200);
  const foreign = await write(`http://[::2]:${port}`, token);
  assert.deepEqual([foreign.status, foreign.body.code], [403, "csrf"]);
});

test("A trusted proxy is recognized by its IPv6 address, and by its IPv4 address on an IPv6 socket.", {
  skip,
}, async () => {
  const { logger, lines } = recordingLogger();
  const { port } = await startAdmin({
    mode: "bearer",
    logger,
    configure: (builder) => builder.listenAddr("[::]:0").trustedProxies(["::1/128", "127.0.0.2"]),
  });
  const attempt = (host: string, from: string, forwarded: string) =>
    createClient(port, host).send("GET", "/api/session", {
      ...{ from, headers: { authorization: "Bearer guess", "x-forwarded-for": forwarded } },
    });
  await attempt("::1", "::1", "2001:DB8:0::7");
  await attempt("::1", "::1", "::ffff:198.51.100.2");
  await attempt("127.0.0.1", "127.0.0.2", "fd00::5, 2001:db8::8");
  await attempt("127.0.0.1", "127.0.0.3", "2001:db8::9");
  const clients = lines
    .filter(({ message }) => !message.includes("listens"))
    .filter(({ level }) => level === "warn")
    .map(({ fields }) => fields.client);
  assert.deepEqual(clients, ["2001:db8::7", "198.51.100.2", "2001:db8::8", "127.0.0.3"]);
});
