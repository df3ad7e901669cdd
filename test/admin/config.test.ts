import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import type { Pool } from "pg";
import pg from "pg";
import type { AuthOptions } from "../../src/admin/config/auth-options.ts";
import { adminServerConfig } from "../../src/admin/config/config-builder.ts";
import { InputError } from "../../src/base/errors.ts";

// This pool never connects.
const pool = new pg.Pool({ connectionString: "postgres://user@127.0.0.1:1/none" });

test("By default the admin listens on 127.0.0.1:4000, with basic authentication and the user admin.", () => {
  const config = adminServerConfig(pool).build();
  assert.equal(config.schema.name, "worker");
  assert.deepEqual(config.listen, { host: "127.0.0.1", port: 4000 });
  assert.deepEqual([config.auth.mode, config.auth.username], ["basic", "admin"]);
  assert.deepEqual([config.readOnly, config.basePath], [false, "/"]);
  assert.ok(Object.isFrozen(config));
});

test("A generated secret has at least 128 bits and differs each time.", () => {
  const secrets = Array.from({ length: 50 }, (_, n) => {
    const mode = (["basic", "bearer", "header"] as const)[n % 3] ?? "basic";
    return adminServerConfig(pool).auth({ mode }).build().auth.generatedSecret ?? "";
  });
  assert.equal(new Set(secrets).size, 50);
  for (const secret of secrets) {
    assert.ok(Buffer.from(secret, "base64url").length >= 16, secret);
    assert.match(secret, /^[\w-]+$/);
  }
});

test("The configuration does not contain a configured secret.", () => {
  for (const auth of [
    { mode: "basic", password: "tell-nobody" },
    { mode: "bearer", token: "tell-nobody" },
    { mode: "header", token: "tell-nobody" },
  ] as const) {
    const config = adminServerConfig(pool).auth(auth).build();
    const printed =
      inspect(config.auth, { depth: 9, showHidden: true }) + JSON.stringify(config.auth);
    assert.ok(!printed.includes("tell-nobody"));
    assert.equal(config.auth.generatedSecret, null);
    assert.equal(
      config.auth.secret?.matches(auth.mode === "basic" ? "admin:tell-nobody" : "tell-nobody"),
      true,
    );
    assert.equal(config.auth.secret?.matches("tell-nobody "), false);
  }
});

test("All problems are reported at once.", () => {
  const builder = adminServerConfig(null as unknown as Pool)
    .schema("")
    .listenAddr("4000")
    .auth({ mode: "bearer", token: "two words" })
    .basePath("queue")
    .readOnly("no" as unknown as boolean);
  assert.throws(
    () => builder.build(),
    (error) => {
      assert.ok(error instanceof InputError);
      const paths = error.problems.map(({ path }) => path).sort();
      assert.deepEqual(paths, [
        "auth.token",
        "basePath",
        "listenAddr",
        "pool",
        "readOnly",
        "schema",
      ]);
      assert.ok(!error.message.includes("two words"), "the message does not contain the secret");
      return true;
    },
  );
});

test("Invalid options of auth are refused, and so are options of another mode.", () => {
  const refused: [unknown, RegExp][] = [
    [{ mode: "digest" }, /auth\.mode: must be one of basic, bearer, header, custom, none/],
    [null, /auth\.mode/],
    [{ mode: "basic", username: "a:b" }, /auth\.username/],
    [{ mode: "basic", username: "" }, /auth\.username/],
    [{ mode: "basic", password: "" }, /auth\.password: must not be empty/],
    [{ mode: "basic", password: "a\nb" }, /auth\.password/],
    [{ mode: "basic", pasword: "x" }, /auth\.pasword: unknown field, did you mean "password"/],
    [{ mode: "bearer", token: "" }, /auth\.token: must not be empty/],
    [{ mode: "bearer", token: "ü" }, /auth\.token/],
    [{ mode: "header", headerName: "x y" }, /auth\.headerName/],
    [{ mode: "header", headerName: "Cookie" }, /auth\.headerName: is a reserved header/],
    [{ mode: "header", headerName: "X-Worker-Admin-CSRF" }, /is a reserved header/],
    [{ mode: "header", headerName: "Sec-Fetch-Site" }, /is a reserved header/],
    [{ mode: "header", headerName: "X-Forwarded-For" }, /is a reserved header/],
    [{ mode: "none", token: "x" }, /auth\.token: unknown field/],
    [{ mode: "custom" }, /auth\.authenticate: is required/],
    [{ mode: "custom", authenticate: "x" }, /auth\.authenticate: must be a function/],
    [{ mode: "custom", authenticate: () => null, secret: "" }, /auth\.secret: must not be empty/],
  ];
  for (const [auth, message] of refused) {
    assert.throws(
      () =>
        adminServerConfig(pool)
          .auth(auth as AuthOptions)
          .build(),
      message,
    );
  }
});

test("userHeader must not be a reserved header or the header of the token, and is refused in mode custom.", () => {
  const build = (name: string, auth: AuthOptions) =>
    adminServerConfig(pool).auth(auth).userHeader(name).build();
  const token = "a-token-that-is-long-enough";
  assert.equal(build("X-Forwarded-User", { mode: "bearer", token }).userHeader, "x-forwarded-user");
  const refused: [string, AuthOptions, RegExp][] = [
    ["Cookie", { mode: "bearer", token }, /userHeader: is a reserved header/],
    ["x y", { mode: "bearer", token }, /userHeader: must be a header name/],
    ["X-Token", { mode: "header", headerName: "x-token", token }, /userHeader: is the header of/],
    ["X-User", { mode: "custom", authenticate: () => null }, /userHeader: is not for mode custom/],
  ];
  for (const [name, auth, message] of refused) assert.throws(() => build(name, auth), message);
});

test("A listen address is host:port, with an IPv6 address in brackets.", () => {
  const host = (address: string) => adminServerConfig(pool).listenAddr(address).build().listen;
  assert.deepEqual(host("0.0.0.0:80"), { host: "0.0.0.0", port: 80 });
  assert.deepEqual(host("[::]:0"), { host: "::", port: 0 });
  assert.deepEqual(host("[::1]:65535"), { host: "::1", port: 65_535 });
  assert.deepEqual(host("db-1.example:4000"), { host: "db-1.example", port: 4000 });
  for (const address of [
    "",
    ":4000",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:65536",
    "127.0.0.1:-1",
    "::1:4000",
    "[::1]",
    "[127.0.0.1]:1",
    "127.0.0:4000",
    "127.0.0.01:4000",
    "0x7f.1:4000",
    "300.1.1.1:4000",
    "http://127.0.0.1:4000",
    "a b:4000",
    "-a:4000",
    "127.0.0.1:4000\n",
  ]) {
    assert.throws(() => host(address), /listenAddr: must be host:port/, address);
  }
});

test("On a TCP address, mode none is refused unless the address is certainly a loopback address.", () => {
  const open = (address: string) =>
    adminServerConfig(pool).listenAddr(address).auth({ mode: "none" }).build();
  for (const address of [
    "127.0.0.1:1",
    "127.9.9.9:1",
    "[::1]:1",
    "[0:0:0:0:0:0:0:1]:1",
    "[0::1]:1",
  ]) {
    assert.equal(open(address).auth.secret, null, address);
  }
  for (const name of ["localhost:1", "LOCALHOST:1"]) {
    assert.deepEqual(open(name).listen, { host: "127.0.0.1", port: 1 }, name);
  }
  for (const address of [
    "0.0.0.0:1",
    "[::]:1",
    "[::ffff:127.0.0.1]:1",
    "[::ffff:7f00:1]:1",
    "[::127.0.0.1]:1",
    "[::2]:1",
    "[1::1]:1",
    "[fe80::1]:1",
    "[0:0:1::1]:1",
    "localhost.localdomain:1",
    "127.example:1",
    "192.168.0.1:1",
    "128.0.0.1:1",
  ]) {
    assert.throws(() => open(address), /auth: mode none needs no login/, address);
  }
});

test("A unix socket has mode 0600 by default, and build() reads the certificate.", () => {
  const on = (address: string) => adminServerConfig(pool).listenAddr(address);
  const unix = on("unix:/run/worker/admin.sock");
  const path = "/run/worker/admin.sock";
  assert.deepEqual(unix.build().listen, { path, mode: 0o600, gid: null });
  assert.equal(unix.auth({ mode: "none" }).build().auth.mode, "none");
  assert.throws(() => unix.listenGroup("0").build(), /auth: mode none needs no login/);
  assert.deepEqual(on("unix:/x").listenGroup("7").build().listen, {
    path: "/x",
    mode: 0o660,
    gid: 7,
  });
  assert.deepEqual(on("fd:3").build().listen, { fd: 3 });
  for (const address of ["unix:", "unix:x", "unix:/x/", "fd:", "fd:x", "fd:-1"]) {
    assert.throws(() => on(address).build(), /listenAddr: must/, address);
  }
  for (const mode of [0, 0o400, 0o700, 0o1660, 0.5, Number.NaN]) {
    assert.throws(() => on("unix:/x").listenMode(mode).build(), /listenMode: must be a mode/);
  }
  const files = { certFile: "/none/x", keyFile: "" };
  assert.throws(() => on("[::1]:0").tls(files).build(), /tls\.keyFile: must be the path of a file/);
  const missing = { certFile: "/none/x", keyFile: "/none/y" };
  assert.throws(() => on("[::1]:0").tls(missing).build(), /tls\.certFile: cannot be read/);
});

test("The schema of the utils is used unless another schema is set.", () => {
  const utils = {
    database: { client: pool, schema: { name: "of_utils", quoted: '"of_utils"' } },
  };
  assert.equal(adminServerConfig(pool, utils).build().schema.name, "of_utils");
  assert.equal(adminServerConfig(pool, utils).schemaName("other").build().schema.name, "other");
  const hostile = adminServerConfig(pool).schema('"; drop schema x; --').build();
  assert.equal(hostile.schema.quoted, '"""; drop schema x; --"');
});

test("A base path gets a final slash if it has none, and must not contain .. or an empty segment.", () => {
  const path = (text: string) => adminServerConfig(pool).basePath(text).build().basePath;
  assert.deepEqual(
    [path("/"), path(""), path("/queue"), path("/a/b/")],
    ["/", "/", "/queue/", "/a/b/"],
  );
  for (const text of ["queue", "//evil.example", "/a/../b", "/a b", "/a?b", "/a//b", "/."]) {
    assert.throws(() => path(text), /basePath/, text);
  }
});

test("A short secret is refused where other machines can reach the server.", () => {
  const build = (address: string, proxies: string[], auth: AuthOptions, scraper = "x".repeat(12)) =>
    adminServerConfig(pool)
      .listenAddr(address)
      .trustedProxies(proxies)
      .auth(auth)
      .metricsToken(scraper)
      .build();
  const short = { mode: "basic", password: "elevenchars" } as const;
  const long = { mode: "basic", password: "twelve chars" } as const;
  assert.equal(build("127.0.0.1:1", [], short).hasShortSecret, true);
  assert.equal(build("0.0.0.0:1", ["10.0.0.0/8"], long).hasShortSecret, false);
  assert.throws(() => build("0.0.0.0:1", [], short), /auth\.password: must have at least 12/);
  assert.throws(() => build("127.0.0.1:1", ["::1"], short), /auth\.password: must have/);
  assert.throws(() => build("[::]:1", [], { mode: "bearer", token: "x" }), /auth\.token: must/);
  assert.throws(
    () => build("[::]:1", [], long, "short"),
    /metricsToken: must have at least 12 characters where other machines can reach the server$/,
  );
  assert.equal(
    build("0.0.0.0:1", [], { mode: "basic" }).hasShortSecret,
    false,
    "a generated secret is not short",
  );
});

test("Limits that are not set keep their defaults. An invalid limit, proxy or label is refused.", () => {
  const limits = (given: object) => adminServerConfig(pool).limits(given).build().limits;
  assert.equal(limits({ viewers: 7 }).viewers, 7);
  assert.equal(limits({ viewers: 7 }).requestMs, 3_000);
  assert.throws(
    () => limits({ viewer: 7 }),
    /limits\.viewer: unknown limit; use one of requestMs,/,
  );
  for (const value of [0, -1, 1.5, "9", Number.NaN]) {
    assert.throws(() => limits({ viewers: value }), /limits\.viewers: must be a whole number/);
  }
  assert.throws(() => adminServerConfig(pool).trustedProxies(["x"]).build(), /trustedProxies/);
  assert.throws(() => adminServerConfig(pool).label("a\nb").build(), /label/);
});

test("docs/admin.md has every limit with its default.", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/admin.md"), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, name, number]) => [name, Number(number)]));
  assert.deepEqual(documented, adminServerConfig(pool).build().limits);
});
