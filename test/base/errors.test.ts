// Tests that `instanceof` recognises the library's errors, even if another copy of the library in the same process has
// created them. Also tests the functions that return the message and the code of a thrown value.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { codeOf, errorOf, InputError, messageOf, WorkerError } from "../../src/base/errors.ts";
import { QueryError } from "../../src/domain/query/query-error.ts";

const copy = "../../src/base/errors.ts?copy";
const other = (await import(copy)) as typeof import("../../src/base/errors.ts");

test("instanceof recognises the errors of another copy of the library.", () => {
  const input = new other.InputError("is wrong");
  const busy = new other.WorkerError("busy", "is busy");
  assert.ok(input instanceof InputError && input instanceof WorkerError);
  assert.ok(busy instanceof WorkerError);
  assert.ok(!(busy instanceof InputError));
  assert.ok(new QueryError({ at: 0, end: 1 }, "is wrong") instanceof other.InputError);
});

test("instanceof recognises no other value as an error of the library.", () => {
  const codes = { code: "bad_input", problems: [], name: "InputError", message: "" };
  for (const value of [new Error("is wrong"), codes, null, undefined, "bad_input", () => {}]) {
    assert.ok(!((value as unknown) instanceof WorkerError));
    assert.ok(!((value as unknown) instanceof InputError));
  }
  assert.ok(!((new InputError("is wrong") as unknown) instanceof QueryError));
});

test("An error of another realm keeps its message.", () => {
  const thrown: unknown = runInNewContext("new TypeError('of the realm')");
  assert.equal(messageOf(thrown), "of the realm");
  assert.equal(errorOf(thrown), thrown);
});

test("A thrown value that cannot be read gets a message and no code.", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hidden = Object.defineProperty(new Error(), "message", {
    get() {
      throw new Error("no");
    },
  });
  for (const thrown of [proxy, hidden, Object.create(null)]) {
    assert.match(messageOf(thrown), /cannot be shown/);
    assert.equal(codeOf(thrown), undefined);
  }
});
