// Tests that long texts are read quickly, whatever they contain. A megabyte of a payload, error, query or time takes at
// most 50 ms of processor time. For the texts in `ownTexts`, the time grows little more than in proportion to the
// length.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../../src/base/errors.ts";
import { duration, moment } from "../../../src/cli/arguments/times.ts";
import { printable, printableJson, printableLines } from "../../../src/cli/output/printable.ts";
import { parametersOfText } from "../../../src/database/connection/server/connection-text.ts";
import { parseCrontab } from "../../../src/domain/cron/crontab.ts";
import { errorGroup } from "../../../src/domain/error-group.ts";
import { compareNumbers } from "../../../src/domain/exact/decimal.ts";
import { memberNames, valuesAt } from "../../../src/domain/exact/payload-values.ts";
import { isMoment } from "../../../src/domain/moment.ts";
import { completionAt, quoteIfNeeded } from "../../../src/domain/query/completion.ts";
import { parseQuery } from "../../../src/domain/query/parse-query.ts";
import { flatten } from "../../../src/insight/groups/flatten.ts";
import { Lines } from "../../../src/worker/files/program-output.ts";
import { assertQuick, cpuMs } from "../../support/cpu-time.ts";

const LENGTH = 1_000_000;
const LIMIT_MS = 50;

const units = [
  "1",
  "0",
  '"',
  "{",
  "[",
  "_",
  " ",
  "\\",
  '\\"',
  ".",
  "a",
  "a1",
  "-",
  ",",
  "=",
  ":",
  "@",
  "\n",
  "\r",
  "1.",
  "1e",
  "a.",
  "%",
  "#, ",
  "\t ",
  "/",
  "1d",
  "x",
  "'",
  "é",
];
const endings = ["", ".5", "e5", '"', "}", "!", "x", "\u2028"];

const textsOf = (begin: string) =>
  units.flatMap((unit) => endings.map((end) => begin + unit.repeat(LENGTH / unit.length) + end));

const unlessRefused = (work: () => unknown) => () => {
  try {
    work();
  } catch (error) {
    // An invalid time on the command line is rejected with a plain Error whose message begins with these words.
    const isSentence = /^must be /.test((error as Error).message);
    if (!(error instanceof InputError) && !isSentence) throw error;
  }
};

interface Reader {
  readonly begins?: readonly string[];
  readonly read: (text: string) => unknown;
}

const readers: Readonly<Record<string, Reader>> = {
  "a payload that is compared": { begins: ["", '{"a": "', '{"amount": '], read: flatten },
  "an error that is grouped": { begins: ["", "Error: "], read: errorGroup },
  "a payload that is looked into": {
    begins: ["", '{"a": "', '{"a": '],
    read: (text) => valuesAt(text, ["a"]),
  },
  "a payload whose members are named": { begins: ["", '{"a": '], read: memberNames },
  "a number of a payload": { read: (text) => compareNumbers(text, "1") },
  "a query that is completed": {
    begins: ["", 'payload."', "payload.a:", "task:"],
    read: (text) => completionAt(text, text.length),
  },
  "a query": { begins: ["", "created<", "payload.a:"], read: parseQuery },
  "a time": { read: isMoment },
};

for (const [name, { begins = [""], read }] of Object.entries(readers)) {
  test(`A megabyte of anything as ${name} is read within 50 ms.`, () => {
    for (const text of begins.flatMap(textsOf)) {
      const what = JSON.stringify([text.slice(0, 20), text.slice(-5)]);
      assertQuick(
        LIMIT_MS,
        what,
        unlessRefused(() => read(text)),
      );
    }
  });
}

// Files, arguments, outputs of tasks and printed texts. Each text is read or printed only once, so a megabyte may take
// longer than 50 ms.
const ownTexts: Readonly<Record<string, Reader>> = {
  "a crontab": {
    begins: ["", "* * * * * ", "* * * * * a {a:", "* * * * * a ?"],
    read: parseCrontab,
  },
  "a connection string": {
    begins: ["", "postgres://", "host='", "postgres://a?"],
    read: parametersOfText,
  },
  "a duration": {
    begins: ["", "in "],
    read: (text) => [unlessRefused(() => duration(text))(), moment(text)],
  },
  "a program's output": { read: (text) => new Lines().add(Buffer.from(text)) },
  "a suggestion": { read: (text) => quoteIfNeeded(text) },
  "a printed text": {
    read: (text) => [printable(text), printableLines(text), printableJson(text)],
  },
};

for (const [name, { begins = [""], read }] of Object.entries(ownTexts)) {
  test(`Four times the length of ${name} takes less than eight times the time, whatever it contains.`, () => {
    for (const begin of begins) {
      for (const unit of units) {
        for (const end of endings) {
          const cost = (length: number) => {
            const text = begin + unit.repeat(length / unit.length) + end;
            return cpuMs(
              unlessRefused(() => read(text)),
              5,
            );
          };
          const large = cost(40_000);
          if (large <= 40) continue;
          const small = cost(10_000);
          assert.ok(
            large < 8 * Math.max(small, 5),
            JSON.stringify([begin, unit, end, small, large]),
          );
        }
      }
    }
  });
}
