// The database URL: what is refused before anything connects, and what pg is given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkedUrl, pgUrl } from "../../src/database/connection/connection-url.ts";

test("What is no PostgreSQL URL is refused, and what may be a password is not repeated.", () => {
  for (const url of ["", "secret", "http://user:secret@host/db", "postgres://host:secret/db"]) {
    assert.throws(
      () => checkedUrl(url),
      (error: Error & { code: string }) => {
        assert.equal(error.code, "bad_input");
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
});

test("URLs with a host, with a unix socket and with spaces around them are taken.", () => {
  for (const url of [
    "postgres://user:p%40ss@host:5432/db",
    "postgresql:///db?host=%2Ftmp&port=5433",
    "postgres://user@/db?host=/tmp",
    " postgres://host/db\n",
  ]) {
    assert.equal(checkedUrl(url), url);
    assert.equal(pgUrl(url), url.trim());
  }
});

test("An sslmode that pg does not know is refused: it would take any word for encryption.", () => {
  const modes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];
  for (const mode of modes) checkedUrl(`postgres://host/db?sslmode=${mode}`);
  for (const mode of ["bogus", "Disable", "", "allow"]) {
    assert.throws(() => checkedUrl(`postgres://host/db?a=1&sslmode=${mode}`), {
      code: "bad_input",
      message: /^sslmode in the database URL must be one of disable, /,
    });
  }
});

test("The modes that pg warns about are said as what they mean to it.", () => {
  for (const [given, expected] of [
    ["?sslmode=require", "?sslmode=verify-full"],
    ["?a=1&sslmode=prefer&b=2", "?a=1&sslmode=verify-full&b=2"],
    ["?sslmode=verify-ca", "?sslmode=verify-full"],
    ["?sslmode=disable", "?sslmode=disable"],
    ["?sslmode=no-verify", "?sslmode=no-verify"],
    ["?uselibpqcompat=true&sslmode=require", "?uselibpqcompat=true&sslmode=require"],
  ]) {
    assert.equal(pgUrl(`postgres://host/db${given}`), `postgres://host/db${expected}`);
  }
});
