/** Shows why a job is in its condition: the server's text, and the causes down to the root, each with its action. */

import { localTimes, upToDate } from "../controls/age";
import { link } from "../controls/button";
import { ALERT, CLOCK, CPU, GAUGE, icon, LAYERS, LIST, PAUSE } from "../controls/icon";
import { conditionNamed } from "../generated/conditions";
import { Cause, Why } from "../generated/records";
import { box, cls, el, key, leaf, Node, nothing, text } from "../lib/node";
import { errorPath } from "../model/links";
import { Model } from "../model/model";
import { linkNames, sentence } from "./sentence";
import { verbButton } from "./verb";

/**
 * Returns the server's text about the job, in the colour of the job's condition. A last sentence about other jobs with
 * the same error is a link to the error's page.
 */
export function whyBox(m: Model, why: Why): Node {
  const links = why.causes.length > 0 ? why.causes[0].links : Cause.empty().links;
  const words = asOfNow(m, why, why.sentence);
  const group = why.errorGroup;
  const same = group === null ? -1 : sameStart(words);
  const nodes = lead(words).concat(
    linkNames(words.substring(leadEnd(words), same < 0 ? words.length : same), links),
  );
  if (group !== null && same >= 0) {
    nodes.push(link(errorPath(group), "", [text(words.substring(same))]));
  }
  return box("div", "why-box " + toneOf(why.condition), nodes);
}

/** While the data are stale, upToDate() would replace ages by clock times, which the text often has already. */
function asOfNow(m: Model, why: Why, words: string): string {
  return m.times.stale ? localTimes(words, m.serverNow) : upToDate(words, why.asOf, m.times);
}

/** Returns where a last sentence such as `836 other jobs have this error.` begins; -1: the text has none. */
function sameStart(words: string): i32 {
  return words.endsWith(" this error.") ? words.lastIndexOf(". ", words.length - 2) + 2 : -1;
}

/** The chain of causes. A broken root is red. */
export function whyChain(m: Model, why: Why): Node {
  if (why.causes.length === 0) return nothing;
  const links: Node[] = [];
  for (let i = 0; i < why.causes.length; i++) links.push(step(m, why, i));
  return box("ol", "chain", links);
}

function step(m: Model, why: Why, index: i32): Node {
  const cause = why.causes[index];
  const detail = cause.detail;
  return chainLink(
    index.toString(),
    drawingOf(cause),
    cause.isRoot && cause.isBroken,
    sentence(asOfNow(m, why, cause.text), cause.links),
    detail === null ? "" : asOfNow(m, why, detail),
    verbButton(m, cause.fix, "s"),
  );
}

/** One link of a chain: a fact, a detail, and an action. */
export function chainLink(
  id: string,
  drawing: string,
  isBroken: bool,
  words: Node[],
  detail: string,
  verb: Node,
): Node {
  return el(
    "li",
    [cls(isBroken ? "root" : ""), key(id)],
    [
      box("span", "dotc", [icon(drawing)]),
      box("div", "", [
        box("div", "", words),
        detail.length > 0 ? leaf("div", "sub", detail) : nothing,
      ]),
      verb,
    ],
  );
}

function drawingOf(cause: Cause): string {
  if (cause.isRoot && cause.isBroken) return ALERT;
  if (cause.kind === "paused") return PAUSE;
  if (cause.kind.includes("queue")) return LAYERS;
  if (cause.kind === "limited") return GAUGE;
  if (cause.kind === "not_due") return CLOCK;
  return cause.kind.includes("worker") || cause.kind.startsWith("holder") ? CPU : LIST;
}

function toneOf(condition: string): string {
  const data = conditionNamed(condition);
  return data === null ? "" : data.tone;
}

function lead(words: string): Node[] {
  return [leaf("span", "lead", words.substring(0, leadEnd(words)))];
}

/** Returns where the lead ends: after the first comma, semicolon or end of a sentence. */
function leadEnd(words: string): i32 {
  for (let i = 0; i < words.length; i++) {
    const c = words.charCodeAt(i);
    const isEnd =
      c === 0x2c ||
      c === 0x3b ||
      (c === 0x2e && (i + 1 === words.length || words.charCodeAt(i + 1) === 0x20));
    if (isEnd) return i + 1;
  }
  return words.length;
}
