// Tests queries (the parser and the completion), numbers in payloads, and error groups, without a database. The corpus
// of queries also tests the client's parser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  errorGroup,
  errorLabel,
  errorPlace,
  groupOfLabel,
  likePatternOf,
} from "../../src/domain/error-group.ts";
import { compareNumbers } from "../../src/domain/exact/decimal.ts";
import { valuesAt } from "../../src/domain/exact/payload-values.ts";
import { completionAt, quoteIfNeeded } from "../../src/domain/query/completion.ts";
import { parseQuery } from "../../src/domain/query/parse-query.ts";
import { printQuery } from "../../src/domain/query/print-query.ts";
import { QueryError } from "../../src/domain/query/query-error.ts";
import { parsedAsText } from "../contract/query-dump.ts";
import { makeRandom, randomText } from "../insight/random-query.ts";
import { rounds } from "../support/rounds.ts";

const corpus: { q: string; is: string }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../contract/queries.json"), "utf8"),
);
const withoutPlaces = (dump: string) => dump.replace(/@\d+-\d+/g, "");

describe("The query language", () => {
  test("parses every query of the corpus to the tree or the error that the corpus contains for the query.", () => {
    for (const { q, is } of corpus) assert.equal(parsedAsText(q), is, q);
  });

  test("parses the printed form of a tree to the same tree.", () => {
    for (const { q, is } of corpus.filter(({ is }) => is !== "" && !is.startsWith("!"))) {
      const tree = parseQuery(q);
      assert.ok(tree !== null);
      assert.equal(withoutPlaces(parsedAsText(printQuery(tree))), withoutPlaces(is), q);
    }
  });

  test("parses every example of its documentation.", () => {
    const text = readFileSync(join(import.meta.dirname, "../../docs/queries.md"), "utf8");
    const [, block = ""] = /^```query\n(.*?)^```$/ms.exec(text) ?? [];
    const cells = [...text.matchAll(/^\|.*\| (`.*`) \|$/gm)].map(([, cell = ""]) => cell);
    const inline = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, q = ""]) => q));
    const examples = [...block.trim().split("\n"), ...inline];
    assert.ok(examples.length > 30);
    for (const q of examples) assert.ok(parseQuery(q) !== null, q);
  });

  test("parses any text, or reports where the text is wrong.", () => {
    const random = makeRandom(7);
    let sound = 0;
    for (let i = 0; i < rounds(8_000); i++) {
      const text = randomText(random);
      try {
        const tree = parseQuery(text);
        sound++;
        if (tree === null) continue;
        const again = printQuery(parseQuery(printQuery(tree)) ?? tree);
        assert.equal(again, printQuery(tree), text);
        assert.equal(
          withoutPlaces(parsedAsText(printQuery(tree))),
          withoutPlaces(parsedAsText(text)),
        );
      } catch (error) {
        assert.ok(error instanceof QueryError, `${JSON.stringify(text)}: ${error}`);
        assert.ok(0 <= error.at && error.at <= error.end && error.end <= text.length, text);
      }
    }
    assert.ok(sound > rounds(800), `only ${sound} texts were valid`);
  });

  test("suggests only corrections that change what the parser returns or reports.", () => {
    for (const { q } of corpus) {
      try {
        parseQuery(q);
      } catch (error) {
        if (!(error instanceof QueryError) || error.suggestion === null) continue;
        const corrected = q.slice(0, error.at) + error.suggestion + q.slice(error.end);
        assert.notEqual(parsedAsText(corrected), parsedAsText(q), q);
      }
    }
  });
});

describe("The completion of queries", () => {
  test("replaces only a range that contains the cursor, in any text.", () => {
    const random = makeRandom(5);
    for (let i = 0; i < rounds(3_000); i++) {
      const text = randomText(random);
      const at = random(text.length + 1);
      const found = completionAt(text, at);
      if (found === null) continue;
      assert.ok(
        0 <= found.at && found.at <= at && at <= found.end && found.end <= text.length,
        text,
      );
    }
  });

  test("quotes every name so that the parser returns the same name.", () => {
    const random = makeRandom(6);
    const texts = [
      "none",
      "a..b",
      "and",
      "a b",
      'say "x"',
      "back\\slash",
      "*",
      "a*",
      "-1",
      ":x",
      "é,",
    ];
    for (let i = 0; i < 500; i++)
      texts.push(randomText(random).replaceAll("\0", "").toWellFormed());
    for (const text of texts.filter((one) => one !== "" && one.length < 200)) {
      const tree = parseQuery(
        `queue:${quoteIfNeeded(text)} payload.${quoteIfNeeded(text, true)}:1`,
      );
      const found = tree?.kind === "and" ? tree.items : [];
      const [queue, payload] = found.map((item) => (item.kind === "field" ? item : null));
      assert.deepEqual(
        queue?.values.map((value) => value.kind === "text" && !value.isPrefix && value.text),
        [text],
      );
      assert.deepEqual(payload?.path, [text]);
    }
  });
});

describe("Numbers of payloads", () => {
  test("compare by their value, whatever their form.", () => {
    const ascending = [
      "-1e400",
      "-7.5",
      "-7",
      "0",
      "1e-400",
      "6.99",
      "7",
      "7.0000001",
      "70",
      "1e400",
    ];
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        assert.equal(Math.sign(compareNumbers(a, b)), Math.sign(i - j), `${a} compared with ${b}`);
      }
    }
    const same = [
      ["7", "7.0", "70e-1", "0.7E1"],
      ["0", "-0", "0.00e9"],
      ["1e2", "100", "100.0"],
    ];
    for (const group of same) {
      for (const a of group) for (const b of group) assert.equal(compareNumbers(a, b), 0);
    }
    assert.ok(compareNumbers("9007199254740993", "9007199254740992") > 0);
  });

  test("are found at their path, with the digits that they have in the text.", () => {
    const json = ' { "a" : [ {"b": 1.0} , {"b":"x\\u0000"}, [ {"b":2} ] ], "a\\"": [[]], "c": {} }';
    assert.deepEqual(valuesAt(json, ["a", "b"]), ["1.0", '"x\\u0000"']);
    assert.deepEqual(valuesAt(json, ["a", 2, 0, "b"]), ["2"]);
    assert.deepEqual(valuesAt(json, ['a"']), ["[[]]", "[]"]);
    assert.deepEqual(valuesAt(json, ["c"]), ["{}"]);
    assert.deepEqual(valuesAt(json, ["c", "d"]), []);
    assert.deepEqual(valuesAt("[".repeat(1e5) + "]".repeat(1e5), [0, 0, 5]), []);
  });
});

describe("Error groups", () => {
  test("leave out what differs from job to job.", () => {
    const labels: Record<string, string> = {
      "Error: connect ETIMEDOUT 10.0.0.1:5432\n    at x": "Error: connect ETIMEDOUT #:#",
      "user 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone": "user # is gone",
      "mail to bob.x@mail.example.com failed\r\nmore": "mail to # failed",
      "at 2026-01-31T08:00:00.123Z: 0xDEADBEEF, 5, 6, 7": "at #: #",
      "commit 8f14e45fceea of req-a1b2c3": "commit # of req-#",
      "TypeError: x is not a function": "TypeError: x is not a function",
      "": "",
    };
    for (const [error, label] of Object.entries(labels)) {
      assert.equal(errorGroup(error).label, label);
    }
  });

  test("leave out ids of many shapes, mail and IP addresses, paths of files and quoted names.", () => {
    const ids = [
      ["ch_c4ca4238a0b923820dcc509a", "ch_c81e728d9d4c2f636f067f89"],
      ["req_7f3kd82jh1", "req_b81mmzpq0s"],
      ["usr_ab12cdefgh", "usr_zxtprqjkta"],
      ["cus_NffrFeUfNV2Hib", "cus_9s6XKzkNRiz8i3"],
      ["V1StGXR8_Z5jdHi6B-myT", "IpUc3A_Yv_IIuxkeHMW_L"],
      ["inv_V1StGXR8_Z5jdHi6B-myT", "inv_IpUc3A_Yv_IIuxkeHMW_L"],
      ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01J9ZYWXVTSRQPNMKJHGFEDCBA"],
      ["0ujsszwN8NRY24YaXiTIE2VWDTS", "2aGfT7HHKKq0JTzcb6nBN4G2Xpz"],
      ["3F2504E0-4F89-11D3-9A0C-0305E82C3301", "3f2504e0-4f89-11d3-9a0c-0305e82c3302"],
      ["cjld2cjxh0000qzrmn831i7rn", "tz4a98xxat96iws9zmbrgj3a"],
      ["507f1f77bcf86cd799439011", "8f14e45fceea"],
      ["eidhXkbLuHBLwClyEwsbd", "PTPqCDBcyi9-NYFyrrxx2"],
      ["pi_LEWEWNYaaXExQpbIXaxegjcv", "pi_3MtwBwLkdIwHu7ix28a3tqPa"],
      ["01JYJCFPJPDSMQZNKHAJWMFAGN", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
      ["qwjkzpvmxtrb", "xkcdvbhqzmwt"],
      ["tok_qwjkzpvmxtrb", "tok_xkcdvbhqzmwt"],
      ["4711", "9007199254740993"],
      ["bob@mail.example", "alice.b+c@x.y.example"],
      ["/tmp/upload/alice", "/tmp/upload/bob"],
      ["/app/in/report.pdf", "/app/in/bill.csv"],
      ["2001:db8::8a2e:370:7334", "::1"],
      ["https://a.example/x?token=abc", "https://a.example/x?token=def&n=1"],
      ['"Acme Ltd"', '"it\'s Bob"'],
      ["'Acme Ltd'", "'Bob'"],
      ["„Müller & Söhne“", "„Ann O'Hara“"],
      ["‚Acme Ltd‘", "‚Bob‘"],
      ["»Acme Ltd«", "»Bob«"],
      ["‹Acme Ltd›", "‹Bob›"],
      ["「山田 太郎」", "「鈴木」"],
    ];
    for (const [one = "", other = ""] of ids) {
      const error = (id: string) => `Error: no charge for ${id}: card declined`;
      assert.equal(errorGroup(error(one)).label, errorGroup(error(other)).label, one);
      assert.match(errorGroup(error(one)).label, /^Error: no charge for \S+: card declined$/, one);
    }
  });

  test("leave out the id of the worker whose job was recovered, whatever the id is.", () => {
    const errors = [
      "Recovered: worker wkFlIpCfL stopped without finishing attempt 1",
      "Recovered 25 times in a row: worker prod eu-a stopped without finishing attempt 25",
      "Recovered: attempt 3 was locked since 2026-11-26 21:08:24+00 by pool-ec, which sends no heartbeat",
      "Recovered: worker my_worker-a held attempt 3 for more than 4 hours",
    ];
    const labels = [
      "Recovered: worker # stopped without finishing attempt #",
      "Recovered # times in a row: worker # stopped without finishing attempt #",
      "Recovered: attempt # was locked since #+# by #, which sends no heartbeat",
      "Recovered: worker # held attempt # for more than # hours",
    ];
    assert.deepEqual(errors.map(errorLabel), labels);
  });

  test("keep names in code, apostrophes and long words.", () => {
    const unchanged = [
      "TypeError: Cannot read properties of undefined (reading 'currency')",
      'error: duplicate key value violates unique constraint "users_email_key"',
      "Error: can't open the user's file",
      "Error: getUserByName_retry failed in charge_card",
      "POST /api/charges failed",
      "std::bad_alloc",
      "TypeError: this.constructBoxNewExpression is not a function",
      "ERR_UNSUPPORTED_DIR_IMPORT of organization_notifications and acknowledgements",
      "INTERNALSERVERERROR in getStripeSubscriptionByExternalId",
      "postgresql: dbpassword in javascript, escapehtml, acknowledge, mkdirpsync, unreadbytes",
    ];
    for (const error of unchanged) assert.equal(errorGroup(error).label, error);
  });

  test("leave out nearly every random id, with digits or without.", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let seed = 1;
    const idOf = (alphabet: string, length: number) =>
      Array.from({ length }, () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return alphabet[seed % alphabet.length];
      }).join("");
    const others = (alphabet: string, length: number) => {
      const labels = Array.from(
        { length: 2_000 },
        () => errorGroup(`no ${idOf(alphabet, length)}`).label,
      );
      return labels.filter((label) => label !== "no #").length;
    };
    assert.ok(others(`${letters}0123456789-_`, 21) < 10, "nearly every nanoid is left out");
    assert.ok(others(letters, 21) < 70, "nearly every id of letters in both cases is left out");
    assert.ok(others(letters.slice(26), 16) < 120, "nearly every id of small letters is left out");
    assert.ok(
      others(`0123456789${letters.slice(26)}`, 10) < 60,
      "nearly every number in base 36 is left out",
    );
  });

  test("can contain all errors of a task that have the same class and come from the same function, in whatever words.", () => {
    const stack = (words: string, line: number) =>
      `TypeError: ${words}\n    at node:internal/x:1:1\n    at f (/app/node_modules/x/y.js:1:1)
    at async charge (file:///app/tasks/charge.js:${line}:5)\n    at run (/app/run.js:1:1)`;
    const place = errorPlace("charge_card", stack("one", 10));
    assert.equal(place.label, "TypeError of charge_card in charge (charge.js), in different words");
    assert.deepEqual(errorPlace("charge_card", stack("two words", 12)), place);
    assert.notEqual(errorPlace("other", stack("one", 10)).fingerprint, place.fingerprint);
    assert.equal(groupOfLabel(place.label).fingerprint, place.fingerprint);
    const packaged = `Error: x\n    at f (/app/node_modules/x/y.js:1:1)
    at Object.handler [as handle] (chunk-XAPMQ3VN.js:448:41)\n    at #run (chunk-XAPMQ3VN.js:3:1)\n`;
    assert.equal(errorPlace("mail", packaged).label, "Error of mail, in different words");
    assert.equal(errorPlace("mail", "no stack").label, "Error of mail, in different words");
  });

  test("keep their fingerprint between versions.", () => {
    assert.equal(errorGroup("Error: no 1").fingerprint, errorGroup("Error: no 22\nx").fingerprint);
    assert.equal(errorGroup("Error: no 1").fingerprint, "107008472d73");
    assert.equal(likePatternOf("100%_\\ of #"), "100\\%\\_\\\\ of %%");
  });

  test("omit from their label a word or quoted text that does not end within the first 300 characters.", () => {
    const words = "the payment of this order was refused by the gateway ";
    for (const id of ["a8d7k2b9q1m4", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "9007199254740993"]) {
      for (let length = 280; length < 300; length++) {
        const start = `Error: ${words.repeat(7)}`.slice(0, length);
        const cut = (text: string) => errorLabel(`${start} ${text} was not found`);
        assert.equal(cut(id), cut(id.replace(/[a-f0-9]/g, (one) => (one === "1" ? "2" : one))));
        assert.equal(cut(`"Ada ${"Bank ".repeat(9)}"`), cut(`"Bob & ${"Sons ".repeat(9)}"`));
      }
    }
  });

  test("have a label of at most 300 characters, for a line of any length.", () => {
    for (const part of ["a", "a.", "1a", "0", "1, ", "a@", "-", "f0"]) {
      assert.ok(errorGroup(part.repeat(1e6)).label.length <= 300);
    }
  });
});
