// Tests that a shell reads the result of shellWord() as the original word, and that the result has no hidden
// characters.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { shellWord } from "../../src/domain/portable/shell-word.ts";

const WORDS = [
  "plain-1.0:a,b/c@d+e",
  "",
  "-dash",
  "it's",
  "''",
  "a b\tc\nd\r",
  "k\u0015touch PASTED\n#",
  "\u001b[31m\u009b0m\u0085",
  "\u202egnp.exe\u2066\u200b\u00ad\ufeff\u2028",
  "1\u00011",
  "🙂 é 日本 𝒳",
  "\u{e0041}\u{e0001}",
  '$(touch x) `x` "$HOME" \\ !x ~ * ?',
];

for (const shell of ["bash", "bash --posix"]) {
  test(`${shell} reads the result for each word as the original word.`, () => {
    const [file = "", ...args] = shell.split(" ");
    for (const word of WORDS) {
      const env = { ...process.env, LC_ALL: "C.UTF-8" };
      const script = `printf '%s|' ${shellWord(word)}`;
      assert.equal(
        execFileSync(file, [...args, "-c", script], { env, encoding: "utf8" }),
        `${word}|`,
      );
    }
  });
}

test("No result contains a control or format character of Unicode.", () => {
  const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xe1000 && point < 0x10ff00) continue;
    const word = shellWord(String.fromCodePoint(point));
    assert.ok(!hidden.test(word), point.toString(16));
    const isVisible = !hidden.test(String.fromCodePoint(point));
    if (isVisible) assert.ok(word.includes(String.fromCodePoint(point)), point.toString(16));
  }
});

test("Hidden characters become octal bytes, and half of a surrogate pair becomes U+FFFD.", () => {
  assert.equal(shellWord("k\u0015x"), "'k'$'\\025''x'");
  assert.equal(shellWord("\u202e"), "$'\\342\\200\\256'");
  assert.equal(shellWord("\ud800"), "'\ufffd'");
});
