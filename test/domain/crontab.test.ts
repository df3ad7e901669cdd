import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCrontab as parseStock } from "graphile-worker";
import { InputError } from "../../src/base/errors.ts";
import { cronJob } from "../../src/domain/cron/cron-entry.ts";
import { parseCrontab } from "../../src/domain/cron/crontab.ts";
import { payloadText } from "../../src/domain/payload.ts";
import { random } from "../support/random-calls.ts";
import { rounds } from "../support/rounds.ts";
import { randomCommand, randomExpression } from "./cron-random.ts";

function problemsOf(text: string): string[] {
  try {
    parseCrontab(text);
    return [];
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

/** Returns the payload of a tick's job, as text. */
function tickPayload(line: string): string {
  const [entry] = parseCrontab(line);
  assert.ok(entry !== undefined);
  return payloadText(cronJob(entry, Date.UTC(2026, 0, 1), false).payload);
}

const tick = '"_cron":{"ts":"2026-01-01T00:00:00.000Z","backfilled":false}';

/** Returns the entries of Graphile Worker's parser, in the form of ourEntries(). */
function stockEntries(text: string) {
  return parseStock(text).map(({ identifier, task, options, payload }) => ({
    identifier,
    taskIdentifier: task,
    fillMs: options.backfillPeriod,
    queueName: options.queueName,
    maxAttempts: options.maxAttempts,
    priority: options.priority,
    jobKey: options.jobKey,
    jobKeyMode: options.jobKey === undefined ? undefined : options.jobKeyMode,
    payload: JSON.stringify({ ...payload, _cron: { ts: "T", backfilled: true } }),
  }));
}

function ourEntries(text: string) {
  return parseCrontab(text).map(({ expression: _, payload, ...entry }) => ({
    identifier: entry.identifier,
    taskIdentifier: entry.taskIdentifier,
    fillMs: entry.fillMs,
    queueName: entry.queueName,
    maxAttempts: entry.maxAttempts,
    priority: entry.priority,
    jobKey: entry.jobKey,
    jobKeyMode: entry.jobKey === undefined ? undefined : (entry.jobKeyMode ?? "replace"),
    payload: payloadText({ ...payload, _cron: { ts: "T", backfilled: true } }),
  }));
}

const isAddition = (fields: string) => /[a-z]|\d-\d+\/\d/i.test(fields);

const result = <T>(work: () => T): T | null => {
  try {
    return work();
  } catch {
    return null;
  }
};

describe("A crontab", () => {
  test("Comments, blank lines, options and payloads are read.", () => {
    const text = `
# a comment
   \t
* * * * * every_minute
  # an indented comment\r
\t0 4 * * 1-5 reports:daily ?id=daily&fill=1w2d3h4m5s&max=3&queue=re:ports&jobKey=a%20b+c&jobKeyMode=preserve_run_at&priority=-7 {to: ['a', "b"], n: 0x10}
30 */2 1,15 * 7 _x/y-z   { }  `;
    assert.deepEqual(parseCrontab(text), [
      {
        identifier: "every_minute",
        taskIdentifier: "every_minute",
        expression: "* * * * *",
        payload: {},
        fillMs: 0,
      },
      {
        identifier: "daily",
        taskIdentifier: "reports:daily",
        expression: "0 4 * * 1-5",
        payload: { to: ["a", "b"], n: 16 },
        fillMs: ((((7 + 2) * 24 + 3) * 60 + 4) * 60 + 5) * 1_000,
        maxAttempts: 3,
        queueName: "re:ports",
        jobKey: "a b c",
        jobKeyMode: "preserve_run_at",
        priority: -7,
      },
      {
        identifier: "_x/y-z",
        taskIdentifier: "_x/y-z",
        expression: "30 */2 1,15 * 7",
        payload: {},
        fillMs: 0,
      },
    ]);
    assert.deepEqual(parseCrontab(""), []);
    assert.deepEqual(parseCrontab("\uFEFF# only a comment"), []);
  });

  test("Random lines give the same entries as Graphile Worker's parser, or are refused by both parsers.", () => {
    const dice = random(1);
    const counts = { both: 0, neither: 0 };
    for (let round = 0; round < rounds(8_000); round++) {
      const fields = dice(10) === 0 ? randomExpression(dice) : "*/5 1 * * 0";
      const line = `${fields} ${randomCommand(dice)}`;
      const stock = result(() => stockEntries(line));
      const ours = result(() => ourEntries(line));
      // Graphile Worker's parser accepts an empty key, which the schema refuses at the first tick. This library's
      // parser refuses an empty key.
      if (stock?.some(({ jobKey }) => jobKey === "")) continue;
      // Names of months and days, L and steps of ranges are valid only in this library.
      if (stock === null && ours !== null && isAddition(fields)) continue;
      assert.deepEqual(ours, stock, line);
      if (stock === null) counts.neither++;
      else counts.both++;
    }
    assert.ok(
      counts.both > rounds(1_000) && counts.neither > rounds(1_500),
      JSON.stringify(counts),
    );
  });

  test("Macros replace the five fields. CRON_TZ sets the time zone of the lines below it, and ?tz= sets the time zone of one line.", () => {
    const text = `@daily utc
CRON_TZ=Europe/Berlin
30 2 * * mon-fri berlin
@hourly york ?tz=America/New_York {a: 1}
5-50/15 8 L jan,jul * berlin ?id=again
 CRON_TZ = Etc/GMT+2
@weekly west ?tz=
`;
    assert.deepEqual(problemsOf(text), [
      'line 7, column 15: "" is not a valid tz; expected the name of a time zone such as Europe/Berlin, America/New_York or UTC',
    ]);
    const entries = parseCrontab(`${text.replace("?tz=\n", "\n")}* * * * * plus ?tz=Etc/GMT+3\n`);
    assert.deepEqual(
      entries.map((one) => [one.identifier, one.expression, one.timeZone]),
      [
        ["utc", "@daily", undefined],
        ["berlin", "30 2 * * mon-fri", "Europe/Berlin"],
        ["york", "@hourly", "America/New_York"],
        ["again", "5-50/15 8 L jan,jul *", "Europe/Berlin"],
        ["west", "@weekly", "Etc/GMT+2"],
        ["plus", "* * * * *", "Etc/GMT+3"],
      ],
    );
    assert.deepEqual(entries[2]?.payload, { a: 1 });
  });

  test("Unknown settings, zones and macros are refused with a message about what is allowed.", () => {
    const zones = "expected a name such as Europe/Berlin, America/New_York or UTC";
    const macros =
      "expected @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or five fields";
    assert.deepEqual(
      problemsOf("CRON_TZ=Europe/Berln\nCRON_TZ=\nMAILTO=me\nTZ=UTC\n@reboot a\n@dayly b\n@daily"),
      [
        `line 1, column 9: "Europe/Berln" is not a time zone, did you mean "Europe/Berlin"?; ${zones}`,
        `line 2, column 9: "" is not a time zone; ${zones}`,
        'line 3, column 1: "MAILTO" cannot be set in a crontab; only CRON_TZ can',
        'line 4, column 1: "TZ" cannot be set in a crontab; only CRON_TZ can',
        `line 5, column 1: "@reboot" is not supported; ${macros}`,
        `line 6, column 1: "@dayly" is not supported, did you mean "@daily"?; ${macros}`,
        "line 7, column 7: the line ends too early: the task identifier is missing",
      ],
    );
  });

  test("A crontab with a problem gives no entries. At most 100 problems are reported, each with its place.", () => {
    const text = `* * * * * good
 61 * * * * nameless.task ?fil=3d&max=none&jobKeyMode=unsafe_dedupe {a: }
* * * *
* * * * * good
* * * * * other ?id=good
* * * * * more ?id=a&id=b&priority=40000&max=0 trailing`;
    assert.deepEqual(problemsOf(text), [
      "line 2, column 2: 61 is not a valid minute (0-59)",
      'line 2, column 13: "nameless.task" is not a valid task identifier; expected letters, digits, _, :, / and -, beginning with a letter or _',
      'line 2, column 28: unknown option "fil", did you mean "fill"?',
      'line 2, column 35: "none" is not a valid max; expected a number of attempts from 1 to 32767',
      'line 2, column 44: "unsafe_dedupe" is not a valid jobKeyMode; expected replace or preserve_run_at',
      "line 2, column 73: the payload cannot be read: invalid character '}'",
      "line 3, column 8: the line ends too early: the day of the week is missing",
      'line 4, column 11: the identifier "good" is also that of line 1; give one of the lines another ?id=…',
      'line 5, column 11: the identifier "good" is also that of line 1; give one of the lines another ?id=…',
      'line 6, column 22: the option "id" is given more than once',
      'line 6, column 27: "40000" is not a valid priority; expected a whole number from -32768 to 32767',
      'line 6, column 42: "0" is not a valid max; expected a number of attempts from 1 to 32767',
      'line 6, column 48: expected a JSON5 object in braces, such as {to: "me"}, or the end of the line',
    ]);
    assert.deepEqual(problemsOf("* * * * * t ?color=red"), [
      'line 1, column 14: unknown option "color"; expected id, fill, max, queue, jobKey, jobKeyMode, tz, priority',
    ]);
    assert.deepEqual(problemsOf("* * * * *"), [
      "line 1, column 10: the line ends too early: the task identifier is missing",
    ]);
    assert.deepEqual(problemsOf("* * * * * t {a: 1} ?id=x"), [
      "line 1, column 13: the payload does not end with }; it must be the last thing in the line",
    ]);
    assert.equal(problemsOf("x\n".repeat(1_000)).length, 100);
  });

  test("Integers beyond 2^53 stay exact, also hexadecimal ones.", () => {
    const line =
      `* * * * * t {a: 9007199254740993, b: -0x7fffffffffffffff, c: [+12345678901234567890],
      "9007199254740993": '9007199254740993', d9007199254740993: "\\"9007199254740993", /* 9007199254740993 */
      s: 9007199254740991, f: 0.1, e: 1e3, n: -0x1f }`.replaceAll("\n", " ");
    assert.equal(
      tickPayload(line),
      `{"a":9007199254740993,"b":-9223372036854775807,"c":[12345678901234567890],"9007199254740993":"9007199254740993","d9007199254740993":"\\"9007199254740993","s":9007199254740991,"f":0.1,"e":1000,"n":-31,${tick}}`,
    );
  });

  test("A payload's own _cron is replaced, and values that JSON cannot represent are refused.", () => {
    assert.equal(tickPayload("* * * * * t {_cron: 1, a: 2}"), `{${tick},"a":2}`);
    assert.equal(tickPayload("* * * * * t"), `{${tick}}`);
    assert.equal(tickPayload("* * * * * t {__proto__: 1}"), `{"__proto__":1,${tick}}`);
    assert.deepEqual(problemsOf("* * * * * t {a: -Infinity}"), [
      "line 1, column 13: the payload cannot be read: -Infinity cannot be stored as JSON",
    ]);
  });

  test("The backfill period (?fill=) is at most 366 days, and names may be as long as the schema allows.", () => {
    assert.deepEqual(problemsOf("* * * * * t ?fill=366d"), []);
    assert.equal(problemsOf("* * * * * t ?fill=366d1s").length, 1);
    assert.equal(problemsOf(`* * * * * ${"t".repeat(128)}`).length, 0);
    assert.match(
      problemsOf(`* * * * * ${"t".repeat(129)}`)[0] ?? "",
      /taskIdentifier: must have 1/,
    );
    assert.equal(problemsOf(`* * * * * t ?jobKey=${"k".repeat(513)}`).length, 1);
    assert.equal(problemsOf("* * * * * t ?jobKey=").length, 1);
    assert.match(problemsOf("#".repeat(1_000_001))[0] ?? "", /longer than 1000000/);
  });
});
