// Tests serverSettings(), which reads a connection string (a URL or key=value text), a service and libpq's environment
// variables. Also tests the order of connection attempts, and password files. No test connects to a server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import {
  attemptAfter,
  attemptsOf,
  failureOf,
  OtherServerError,
} from "../../src/database/connection/server/attempts.ts";
import { passwordOf } from "../../src/database/connection/server/password-file.ts";
import { serverSettings } from "../../src/database/connection/server/server-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-settings-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const hosts = (text: string, env = {}) =>
  serverSettings(text, env)
    .hosts.map(({ host, port }) => `${host}:${port}`)
    .join(" ");

test("An invalid connection string is refused, and the error message does not contain a password of the string.", () => {
  for (const url of [
    ...["secret", "http://user:secret@host/db", "postgres://host:secret/db"],
    "postgres://user:12/secret@host/db",
  ]) {
    assert.throws(
      () => serverSettings(url, {}),
      (error: Error & { code: string }) => {
        assert.equal(error.code, "bad_input");
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
});

test("URLs with a host name, an IPv6 address or a Unix socket are accepted, and so is key=value text.", () => {
  const { user, password, database } = serverSettings("postgres://user:p%40ss@host:5432/db", {});
  assert.deepEqual([user, password, database], ["user", "p@ss", "db"]);
  assert.equal(hosts("postgresql:///db?host=%2Ftmp&port=5433"), "/tmp:5433");
  assert.equal(hosts("postgres://user@/db?host=/tmp"), "/tmp:5432");
  assert.equal(hosts("postgres://user@%2Frun%2Fpg:5433/db"), "/run/pg:5433");
  assert.equal(hosts(" postgres://host/db\n"), "host:5432");
  assert.equal(hosts("postgres://[::1]:6000/db"), "::1:6000");
  assert.equal(hosts("host=a port=5433 dbname='my db'"), "a:5433");
  assert.equal(serverSettings("postgres://host/a%40b", {}).database, "a@b");
  assert.equal(serverSettings("dbname='it\\'s' host=a", {}).database, "it's");
});

test("An unescaped @ or % in a password is part of the password.", () => {
  const { password, hosts: all } = serverSettings("postgres://u:p@ss%@host/db", {});
  assert.deepEqual([password, all[0]?.host], ["p@ss%", "host"]);
});

test("If there are several hosts, each has its own port, or all share one port.", () => {
  assert.equal(hosts("postgres://a:1,b,c:3/db"), "a:1 b:5432 c:3");
  assert.equal(hosts("postgres:///db?host=a,b&port=7"), "a:7 b:7");
  assert.throws(
    () => hosts("host=a,b port=1,2,3"),
    /must have a single port, or as many as there are hosts \(2\)/,
  );
});

test("Without a connection string, PGHOST, PGPORT, PGUSER and PGDATABASE are used, and any one of them is enough.", () => {
  const env = { PGHOST: "db", PGPORT: "6543", PGUSER: "me", PGDATABASE: "jobs", PGPASSWORD: "x" };
  const settings = serverSettings("", env);
  assert.deepEqual(settings.hosts, [{ host: "db", port: 6543, address: null }]);
  assert.deepEqual([settings.user, settings.database, settings.password], ["me", "jobs", "x"]);
  assert.equal(serverSettings("", { PGDATABASE: "jobs" }).user, userInfo().username);
  assert.equal(serverSettings("", { PGUSER: "me" }).database, "me");
  assert.throws(() => serverSettings("", {}), { code: "configuration", message: /PGSERVICE/ });
});

test("The URL overrides the service, and the service overrides libpq's environment variables.", () => {
  const file = join(folder, "services");
  writeFileSync(
    file,
    "# ours\n[other]\nhost=no\n\n[jobs]\nhost=of-service\nport=1\nuser=s\n[more]\nhost=no\n",
  );
  const env = { PGSERVICEFILE: file, PGHOST: "of-env", PGPORT: "2", PGDATABASE: "e" };
  const settings = serverSettings("postgres://of-url/?service=jobs", env);
  assert.deepEqual(settings.hosts, [{ host: "of-url", port: 1, address: null }]);
  assert.deepEqual([settings.user, settings.database], ["s", "e"]);
  assert.equal(hosts("", { PGSERVICEFILE: file, PGSERVICE: "jobs" }), "of-service:1");
  assert.equal(hosts(`service=jobs servicefile=${file}`), "of-service:1");
});

test("The error for a missing service, or for an invalid line of a service, names the file.", () => {
  const file = join(folder, "bad");
  writeFileSync(file, "[a]\nhost=x\nnonsense\n[b]\ncolour=red\n");
  const env = { PGSERVICEFILE: file };
  assert.throws(
    () => hosts("", { ...env, PGSERVICE: "none" }),
    /PGSERVICE names the service "none", which is not in .*bad/,
  );
  assert.throws(() => hosts("service=a", env), /bad, line 3, is not of the form name=value/);
  assert.throws(
    () => hosts("service=b", env),
    /colour in .*bad, line 5, is not a connection parameter/,
  );
  assert.throws(
    () => hosts("service=a", { PGSERVICEFILE: join(folder, "absent") }),
    /PGSERVICEFILE cannot be read/,
  );
});

test("The error for an invalid value or parameter names the variable, or the parameter and where it was set.", () => {
  assert.throws(() => hosts("postgres://host/db?sslmode=bogus"), {
    code: "bad_input",
    message: /^sslmode in the database URL must be one of disable, allow, prefer, /,
  });
  assert.throws(() => hosts("postgres://host/db", { PGSSLMODE: "on" }), /PGSSLMODE must be one of/);
  assert.throws(
    () => hosts("host=a target_session_attrs=master"),
    /target_session_attrs in the connection string must be one of any/,
  );
  assert.throws(
    () => hosts("postgres://host/db?sslmod=require"),
    /sslmod in the database URL is not a connection parameter/,
  );
  assert.throws(() => hosts("host=a", { PGPORT: "x" }), /PGPORT must be a number/);
  assert.throws(
    () => hosts("host=a connect_timeout=soon"),
    /connect_timeout in the connection string must be a whole number/,
  );
});

test("fallback_application_name is used if there is no application_name.", () => {
  const nameOf = (text: string) => serverSettings(text, {}).applicationName;
  assert.equal(nameOf("postgres://a/b?fallback_application_name=billing"), "billing");
  assert.equal(nameOf("host=a application_name=x fallback_application_name=billing"), "x");
});

test("Parameters that require an unsupported guarantee are refused, not ignored.", () => {
  assert.throws(
    () => hosts("host=a", { PGREQUIREAUTH: "scram-sha-256" }),
    /PGREQUIREAUTH is not supported/,
  );
  const protecting = {
    ...{ require_auth: "scram-sha-256", requirepeer: "postgres", sslcrldir: "/crl" },
    ...{ gssencmode: "require", sslcertmode: "require", min_protocol_version: "3.2" },
    ...{ replication: "database", sslaccept: "strict" },
  };
  for (const [name, value] of Object.entries(protecting)) {
    assert.throws(() => hosts(`postgres://a/db?${name}=${value}`), { code: "bad_input" }, name);
  }
  // Empty values require nothing, as in libpq.
  const { ignored } = serverSettings("postgres://a/db?require_auth=&requirepeer=&sslcrldir=", {});
  assert.deepEqual(ignored, []);
  assert.throws(
    () => hosts("host=a channel_binding=require sslmode=disable"),
    /channel_binding .* "require", but sslmode=disable rules TLS out/,
  );
  assert.equal(serverSettings("host=a requiressl=1", {}).encryption.mode, "require");
});

test("Parameters for tuning and parameters of other clients are accepted. The settings list the parameters of the connection string that have no effect.", () => {
  const url =
    "postgres://host/db?keepalives_interval=10&pgbouncer=true&connection_limit=1&schema=public";
  assert.deepEqual(
    serverSettings(url, {}).ignored,
    ["keepalives_interval", "pgbouncer", "connection_limit", "schema"].map(
      (name) => `${name} in the database URL`,
    ),
  );
  assert.deepEqual(serverSettings("host=a tcp_user_timeout=3 krbsrvname=x", {}).ignored, [
    "tcp_user_timeout in the connection string",
    "krbsrvname in the connection string",
  ]);
  for (const one of ["sslcompression=1", "sslsni=0", "client_encoding=LATIN1"]) {
    const [name = ""] = one.split("=");
    assert.deepEqual(serverSettings(`postgres://host/db?${one}`, {}).ignored, [
      `${name} in the database URL`,
    ]);
  }
  assert.deepEqual(serverSettings("host=a client_encoding=UTF-8", { PGSSLSNI: "0" }).ignored, []);
  for (const [name, value] of Object.entries({
    ...{ keepalives_count: "3", gsslib: "gssapi", gssdelegation: "0", replication: "off" },
    ...{ client_encoding: "Utf8", sslkeylogfile: "x", max_protocol_version: "latest" },
    ...{ oauth_scope: "x", scram_client_key: "x", channel_binding: "require" },
  })) {
    assert.equal(hosts(`postgres://a/db?${name}=${value}`), "a:5432", name);
  }
});

test("A connect_timeout longer than a timer's maximum is set to that maximum.", () => {
  const msOf = (seconds: string) =>
    serverSettings(`host=a connect_timeout=${seconds}`, {}).connectTimeoutMs;
  assert.deepEqual(["3000000", "9999999999", "99999999999999999999", "7"].map(msOf), [
    ...[2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 7_000],
  ]);
});

test("An unescaped ? in a password is part of the password.", () => {
  const loginOf = (url: string) => {
    const { user, password, hosts: all, database } = serverSettings(url, {});
    return [user, password, `${all[0]?.host}:${all[0]?.port}`, database].join(" ");
  };
  assert.equal(loginOf("postgres://u:p?w@host:1/db"), "u p?w host:1 db");
  assert.equal(loginOf("postgres://u:p?w=1&x@host/db?sslmode=disable"), "u p?w=1&x host:5432 db");
  assert.equal(hosts("postgres://host:7?user=me@corp&dbname=db"), "host:7");
  assert.equal(hosts("postgres://host/db?user=me@corp"), "host:5432");
});

test("The order of connection attempts depends on sslmode and target_session_attrs; a connection to a Unix socket is never encrypted.", () => {
  const ways = (text: string) =>
    attemptsOf(serverSettings(text, {})).map(
      ({ host, way, target }) =>
        `${host.host} ${way.encrypts ? (way.optional ? "tls?" : "tls") : "plain"} ${target}`,
    );
  assert.deepEqual(ways("host=a"), ["a tls? any", "a plain any"]);
  assert.deepEqual(ways("host=a sslmode=allow"), ["a plain any", "a tls any"]);
  assert.deepEqual(ways("host=a,/tmp sslmode=require"), ["a tls any", "/tmp plain any"]);
  assert.deepEqual(ways("host=a,b sslmode=disable target_session_attrs=prefer-standby"), [
    ...["a plain standby", "b plain standby", "a plain any", "b plain any"],
  ]);
});

test("If a server does not match target_session_attrs, no attempt without encryption follows at the same server.", () => {
  const text = "host=a,b sslmode=prefer target_session_attrs=read-write";
  const attempts = attemptsOf(serverSettings(text, {}));
  const next = attempts[attemptAfter(attempts, 0, new OtherServerError("a standby"))];
  assert.deepEqual([next?.host.host, next?.way.encrypts], ["b", true]);
});

test("If no server accepts the connection, the error has the reason of each server.", () => {
  const [standby, any] = attemptsOf(
    serverSettings("host=a sslmode=disable target_session_attrs=prefer-standby", {}),
  );
  assert.ok(standby !== undefined && any !== undefined);
  const primary = { attempt: standby, error: new OtherServerError("a primary") };
  const full = { attempt: any, error: new Error("sorry, too many clients already") };
  assert.match(
    String(failureOf([primary, full], "prefer-standby")),
    /no server accepts the connection \(a:5432 is a primary; a:5432: sorry, too many clients already\)$/,
  );
  assert.match(
    String(failureOf([primary], "standby")),
    /no server is standby, as target_session_attrs requires \(a:5432 is a primary\)$/,
  );
});

test("The password is not printed with the other settings.", () => {
  const settings = serverSettings("postgres://u:secret@h/db", {});
  assert.doesNotMatch(inspect(settings) + JSON.stringify(settings), /secret/);
});

test("The first matching line of a password file is used; a password file that other users may read is refused.", async () => {
  const file = join(folder, "pgpass");
  const text = "# old\nh:5432:db:u:no:\\:colon\\\\\nlocalhost:*:*:*:socket\n*:*:*:u:last\n";
  writeFileSync(file, text.replace(":no:", ":"), { mode: 0o600 });
  const login = { host: "h", port: 5432, database: "db", user: "u" };
  assert.equal(await passwordOf(login, file), ":colon\\");
  assert.equal(await passwordOf({ ...login, port: 1 }, file), "last");
  assert.equal(await passwordOf({ ...login, host: "/run" }, file), "socket");
  assert.equal(await passwordOf({ ...login, user: "x" }, file), undefined);
  const open = join(folder, "open");
  writeFileSync(open, text, { mode: 0o644 });
  await assert.rejects(passwordOf(login, open), /is open to other users; it is not used/);
});
