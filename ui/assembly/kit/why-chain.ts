/** Why a job is where it is: one sentence, and the chain from the job to the root with its verb. */
import { ALERT, CPU, icon, LAYERS, LIST } from "../controls/icon";
import { Cause, Why } from "../generated/records";
import { box, cls, el, key, leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { linked, sentence } from "./sentence";
import { verbButton } from "./verb";

/** The sentence in the tone of the job's condition. */
export function whyBox(why: Why): Node {
  const empty = why.causes.length > 0 ? why.causes[0].links : new Cause().links;
  return box(
    "div",
    "why-box " + toneOf(why.condition),
    lead(why.sentence).concat(linked(rest(why.sentence), empty)),
  );
}

/** The links of the chain; the root is the last, in red, with the verb that removes it. */
export function whyChain(m: Model, why: Why): Node {
  if (why.causes.length === 0) return nothing;
  const links: Node[] = [];
  for (let i = 0; i < why.causes.length; i++) links.push(link(m, why.causes[i], i));
  return box("ol", "chain", links);
}

function link(m: Model, cause: Cause, index: i32): Node {
  const detail = cause.detail;
  return chainLink(
    index.toString(),
    drawingOf(cause),
    cause.isRoot,
    sentence(cause.text, cause.links),
    detail === null ? "" : detail,
    verbButton(m, cause.verb, cause.isRoot ? "s p" : "s"),
  );
}

/** One link of a chain: what is so, what there is to add, and what can be done about it. */
export function chainLink(
  id: string,
  drawing: string,
  isRoot: bool,
  said: Node[],
  detail: string,
  verb: Node,
): Node {
  return el(
    "li",
    [cls(isRoot ? "root" : ""), key(id)],
    [
      box("span", "dotc", [icon(drawing)]),
      box("div", "", [
        box("div", "", said),
        detail.length > 0 ? leaf("div", "sub", detail) : nothing,
      ]),
      verb,
    ],
  );
}

function drawingOf(cause: Cause): string {
  if (cause.isRoot) return ALERT;
  if (cause.kind.includes("queue")) return LAYERS;
  return cause.kind.includes("worker") ? CPU : LIST;
}

function toneOf(condition: string): string {
  if (condition === "failed") return "bad";
  if (condition === "blocked") return "warn";
  if (condition === "retrying") return "retry";
  if (condition === "running") return "run";
  return condition === "scheduled" ? "sched" : "";
}

function lead(said: string): Node[] {
  return [leaf("span", "lead", said.substring(0, leadEnd(said)))];
}

function rest(said: string): string {
  return said.substring(leadEnd(said));
}

/** Its first sentence, or the part before the first comma or semicolon. */
function leadEnd(said: string): i32 {
  for (let i = 0; i < said.length; i++) {
    const c = said.charCodeAt(i);
    const isEnd =
      c === 0x2c ||
      c === 0x3b ||
      (c === 0x2e && (i + 1 === said.length || said.charCodeAt(i + 1) === 0x20));
    if (isEnd) return i + 1;
  }
  return said.length;
}
