/**
 * The panel of an error. It shows the message and the frames of the stack, or the error's plain text. Consecutive
 * frames of Node.js and of packages are folded.
 */
import { button, copyButton } from "../controls/button";
import { panel } from "../controls/panel";
import { classEnd } from "../kit/group-row";
import { attr, box, cls, el, key, leaf, multiline, Node, nothing, text } from "../lib/node";
import { bytesOf, countText } from "../lib/number";
import { Frame, readStack, Stack } from "./stack";

/** A longer message is cut at this length, and a button shows the rest. */
const LONG_MESSAGE = 600;
/** The number of the application's own frames, counted from the first one, that are never folded. */
const MAX_OWN = 12;

export class ErrorPanel {
  private of: string = "";
  private stack: Stack = new Stack();
  /** Whether the error is shown as its plain text, instead of message and frames. */
  private asText: bool = false;
  private whole: bool = false;

  /** `page`: the name of the page that shows the panel. This page passes `error-text` and `error-whole` to act(). */
  constructor(
    private readonly page: string,
    private readonly title: string,
  ) {}

  act(verb: string): void {
    if (verb === "error-text") this.asText = !this.asText;
    else if (verb === "error-whole") this.whole = !this.whole;
  }

  view(error: string, isCut: bool, more: Node): Node {
    if (error !== this.of) {
      this.of = error;
      this.whole = false;
      this.stack = readStack(error);
    }
    const stack = this.stack;
    const hasFrames = stack.frames.length > 0;
    const acts = [
      more,
      hasFrames
        ? button(this.asText ? "Show frames" : "Show as text", this.page + ".error-text", "", "q s")
        : nothing,
      copyButton("the error", error),
    ];
    const body = this.asText
      ? el(
          "pre",
          [cls("stack"), attr("tabindex", "0"), attr("aria-label", "Last error")],
          [multiline(error)],
        )
      : box("div", "pb", [this.message(stack.message), hasFrames ? frames(stack.frames) : nothing]);
    const foot = isCut ? leaf("div", "pf", "Truncated") : nothing;
    return panel(this.title, inYourCode(stack), acts, [body, foot]);
  }

  private message(message: string): Node {
    const isLong = message.length > LONG_MESSAGE;
    const shown = isLong && !this.whole ? message.substring(0, LONG_MESSAGE) + "… " : message;
    const end = classEnd(shown);
    return box("p", "msg", [
      end > 0 ? leaf("b", "", shown.substring(0, end)) : nothing,
      el("span", [], [multiline(shown.substring(end))]),
      isLong
        ? button(
            this.whole ? "Show less" : `Show all ${bytesOf(message, 0, message.length)}`,
            this.page + ".error-whole",
            "",
            "q s",
          )
        : nothing,
    ]);
  }
}

function inYourCode(stack: Stack): string {
  return stack.frames.length === 0 ? "" : `${countText(stack.own, "frame", "frames")} in your code`;
}

/**
 * Returns the frames as a list. Two or more consecutive frames that are not the application's, or are beyond MAX_OWN,
 * become one line, which the user can open.
 */
function frames(list: Frame[]): Node {
  const items: Node[] = [];
  let own = 0;
  let at = 0;
  while (at < list.length) {
    const isShown = (list[at].own && own < MAX_OWN) || list[at].between;
    if (isShown) {
      if (list[at].own) own++;
      items.push(frame(list[at], at));
      at++;
      continue;
    }
    const start = at;
    let ours = 0;
    while (at < list.length && !list[at].between && (!list[at].own || own >= MAX_OWN)) {
      if (list[at].own) ours++;
      at++;
    }
    items.push(at - start === 1 ? frame(list[start], start) : fold(list, start, at, ours));
  }
  return box("ol", "frames", items);
}

function frame(one: Frame, at: i32): Node {
  if (one.between) return el("li", [key(at.toString()), cls("between")], [text(one.name)]);
  const name = one.name.length > 0 ? one.name : "(anonymous)";
  return el(
    "li",
    [key(at.toString()), cls(one.own ? "own" : "lib"), attr("title", one.place)],
    [leaf(one.own ? "b" : "span", "", name), leaf("span", "", one.short)],
  );
}

function fold(list: Frame[], from: i32, to: i32, ours: i32): Node {
  const inner: Node[] = [];
  for (let i = from; i < to; i++) inner.push(frame(list[i], i));
  const words =
    ours > 0
      ? `${countText(to - from, "frame", "frames")} more, ${ours} in your code`
      : `${countText(to - from, "frame", "frames")} in Node.js and dependencies`;
  return el(
    "li",
    [key("fold" + from.toString()), cls("fold")],
    [el("details", [], [leaf("summary", "", words), box("ol", "", inner)])],
  );
}
