// Makes random cron expressions and random commands of crontab lines, valid and invalid. `dice` is a random generator
// with a seed.
import type { Random } from "../support/random-calls.ts";

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

const pick = <T>(dice: Random, ...choices: readonly T[]): T => choices[dice(choices.length)] as T;

/**
 * Returns a cron expression of five fields, each of which has one or several parts. In a third of the expressions,
 * about a quarter of the parts come from hostilePart(). Many of these parts are invalid.
 */
export function randomExpression(dice: Random): string {
  const isHostile = dice(3) === 0;
  const field = (place: number) =>
    Array.from({ length: dice(4) === 0 ? 1 + dice(3) : 1 }, () =>
      isHostile && dice(4) === 0 ? hostilePart(dice) : part(dice, place),
    ).join(",");
  return ranges.map((_, place) => field(place)).join(pick(dice, " ", "  ", "\t"));
}

function part(dice: Random, place: number): string {
  const [least, most] = ranges[place] ?? [0, 0];
  const number = () => least + dice(most - least + 1);
  const first = number();
  return pick(
    dice,
    () => "*",
    () => `*/${1 + dice(70)}`,
    () => `${pick(dice, "", "0")}${number()}`,
    () => (first < most ? `${first}-${first + 1 + dice(most - first)}` : `${first}`),
    () => `${least}-${most}`,
  )();
}

function hostilePart(dice: Random): string {
  const number = () => pick(dice, dice(10), dice(100), 0, 7, 8, 24, 31, 32, 60, 10 ** 17);
  return pick(
    dice,
    () => `${number()}`,
    () => `${number()}-${number()}`,
    () => `*/${number()}`,
    () => pick(dice, "", "-", "*/", "/", "*-3", "**", "1-2-3", "1-30/5", "5/5", "-5", "*/-1", "L"),
    () => pick(dice, "mon", "?", "1.5", "*,", ",*", "1--2", "0x3", "MON-FRI", "@daily", "#"),
  )();
}

/** Returns the part of a crontab line after its five time fields: a task, and perhaps options and a payload. */
export function randomCommand(dice: Random): string {
  const task = pick(dice, "task", "_a", "a:b/c-d_9", "T", "9a", "a.b", "-a", "é");
  const options = Array.from({ length: dice(3) }, () => option(dice));
  const gap = pick(dice, " ", " ", " ", "\t ", "");
  const query = options.length > 0 ? `${gap}?${options.join(pick(dice, "&", "&", "&&"))}` : "";
  const payload = pick(dice, "", "", `${gap}${object(dice)}`);
  return dice(12) === 0 ? `${task}${payload}${query}` : `${task}${query}${payload}`;
}

function option(dice: Random): string {
  const name = pick(dice, "id", "fill", "max", "queue", "jobKey", "jobKeyMode", "priority", "Id");
  const value = pick<() => string>(
    dice,
    () => pick(dice, "x", "a-b_c", "9x", "%41", "a+b", "a=b", "%", "%zz", "a%2Fb", "a:b", "é", "y"),
    () => pick(dice, "4w3d2h1m", "1s", "0m", "5", "m5", "1h1h", "1H", "10y"),
    () => pick(dice, "1", "25", "007", "-1", "1.5", "+3"),
    () => pick(dice, "replace", "preserve_run_at", "unsafe_dedupe"),
  )();
  return dice(20) === 0 ? pick(dice, name, "", `=${value}`) : `${name}=${value}`;
}

function object(dice: Random): string {
  return pick(
    dice,
    "{}",
    "{a: 1, b: [true, null, 'x', .5, +1, 0xff]}",
    '{"b": {c: "}"}, 2: 1}',
    "{'a': 1, 'a': 2, _cron: 3, z: 4}",
    "{/* c */ a: '\\'', // b\n}",
    "{a: '\\x41\\u0042', __proto__: {b: 1},}",
    "{a}",
    "[1]",
    "{a: 1} {b: 2}",
    "{a: 1",
    "{a: ?}",
  );
}
