/**
 * The panel with a job's payload: a tree, a text or a comparison with other jobs. A small payload is loaded with the
 * job, a large payload on request. If a payload is too large for one answer, only its beginning is loaded.
 */
import { button, copyButton, drawnButton } from "../controls/button";
import { problem } from "../controls/empty";
import { DOWNLOAD } from "../controls/icon";
import { panel } from "../controls/panel";
import { part, segments } from "../controls/tabs";
import { ListedJob } from "../generated/records";
import { after } from "../host";
import { ServerData } from "../kit/server-data";
import { laidOut } from "../lib/json-layout";
import { attr, box, cls, el, leaf, multiline, Node, nothing } from "../lib/node";
import { bytesOf } from "../lib/number";
import { Model } from "../model/model";
import { Comparison } from "./comparison";
import { storedSize } from "./facts";
import { JsonTree } from "./tree";

/** The maximum size of a job, with its payload, that the server sends in one answer, in bytes. */
const MAX_BYTES: i64 = 16 * 1048576;
const START = 4000;
const RAW_STEP = 100000;
/** The number of characters above which the tree has a search field. */
const SEARCHED = 2000;
const TYPING_MS: i32 = 250;

export class Payload {
  readonly data: ServerData = new ServerData("job.payload");
  private mode: string = "tree";
  private tree: JsonTree = new JsonTree("null");
  private isTooLarge: bool = false;
  private start: string = "";
  private rawEnd: i32 = RAW_STEP;
  private rawDrawn: Node | null = null;
  private draft: string = "";
  private typed: i32 = 0;
  /** The size of the payload's text, such as `12 KB`; empty: the payload is not loaded. */
  size: string = "";
  /** The action to perform when the payload has arrived: `duplicate`, `copy-json`, `copy-add`, or empty. */
  next: string = "";

  /** The payload's text; null: not loaded. */
  get text(): string | null {
    return this.size.length > 0 ? this.tree.json : null;
  }

  /**
   * Called with a job from an answer, which has the payload only if the payload is small. If the job is unchanged
   * (`isSame`), a large payload that was loaded before is kept.
   */
  update(m: Model, job: ListedJob, isSame: bool): void {
    if (!job.payloadTruncated) this.show(job.payload);
    else if (!isSame) {
      const isPending = this.data.isPending(m);
      this.size = "";
      this.isTooLarge = false;
      this.start = "";
      this.data.reset();
      if (isPending) this.load(m, job);
    }
  }

  /** Called with the answer to a request for the whole payload, or for its beginning. */
  onAnswer(job: ListedJob): void {
    const start = job.payloadStart;
    if (start !== null) this.start = start;
    else this.show(job.payload);
  }

  onFailure(m: Model, id: i64, status: i32, reason: string): void {
    if (status === 413) this.requestStart(m, id);
    else this.data.failedWith(status, reason);
  }

  load(m: Model, job: ListedJob): void {
    if (!job.payloadPacked && job.payloadBytes > MAX_BYTES) this.requestStart(m, job.id);
    else this.data.request(m, `api/jobs/${job.id}`);
  }

  private requestStart(m: Model, id: i64): void {
    this.isTooLarge = true;
    if (this.next.length > 0) m.notices.bad("The payload is too large: download it instead.");
    this.next = "";
    this.data.request(m, `api/jobs/${id}?fields=head&start=${START}`);
  }

  private show(json: string): void {
    if (json === this.text) return;
    this.tree = new JsonTree(json);
    this.size = bytesOf(json, 0, json.length);
    this.rawEnd = RAW_STEP;
    this.rawDrawn = null;
    this.draft = "";
  }

  act(verb: string, arg: string, value: string): void {
    if (verb === "payload") this.mode = arg;
    else if (verb === "raw-more") {
      this.rawEnd += RAW_STEP;
      this.rawDrawn = null;
    } else if (verb === "find") {
      this.draft = value;
      this.typed++;
      after(TYPING_MS, "job.found", this.typed.toString());
    } else if (verb === "found") {
      if (arg === this.typed.toString()) this.tree.act("tree-find", "", this.draft);
    } else this.tree.act(verb, arg, value);
  }

  get isCompared(): bool {
    return this.mode === "comparison";
  }

  view(m: Model, job: ListedJob, comparison: Comparison): Node {
    const remark = job.payloadTruncated ? storedSize(job) : "";
    const parts = [
      part("Tree", "job.payload", "tree", this.mode === "tree"),
      part("Text", "job.payload", "raw", this.mode === "raw"),
    ];
    if (comparison.isOffered)
      parts.push(part("Differs", "job.payload", "comparison", this.isCompared));
    const json = this.text;
    const more = [
      segments("Show the payload as", parts),
      json === null ? nothing : copyButton("the payload", json),
      job.payloadTruncated ? drawnButton(DOWNLOAD, "Download", "job.download", "q s") : nothing,
    ];
    return panel("Payload", remark, more, [
      this.isCompared && comparison.isOffered ? comparison.view(m, json) : this.body(m, json),
    ]);
  }

  private body(m: Model, json: string | null): Node {
    if (this.isTooLarge) return this.beginning(m);
    if (json === null) {
      if (this.data.error.length > 0) return problem(this.data.error);
      if (this.data.isPending(m)) return box("div", "", [this.data.placeholder(m, 4)]);
      return box("div", "pb row", [
        button("Load payload", "job.open-payload", "", ""),
        leaf("span", "faint small", "It is large."),
      ]);
    }
    if (this.mode === "raw") return this.raw(json);
    return box("div", "pb", [json.length > SEARCHED ? this.search() : nothing, this.tree.view()]);
  }

  private search(): Node {
    return el(
      "input",
      [
        attr("type", "search"),
        cls("input find"),
        attr("aria-label", "Find in the payload"),
        attr("placeholder", `Find in ${this.size}`),
        attr("data-input", "job.find"),
        attr("value", this.draft),
        attr("autocomplete", "off"),
      ],
      [],
    );
  }

  private raw(json: string): Node {
    const before = this.rawDrawn;
    if (before !== null) return before;
    const layout = laidOut(json, this.rawEnd);
    const drawn = box("div", "", [
      pre(layout.text),
      layout.end < json.length
        ? box("div", "pf row", [
            leaf("span", "", `About ${bytesOf(json, layout.end, json.length)} more.`),
            button("Show more", "job.raw-more", "", "s"),
          ])
        : nothing,
    ]);
    this.rawDrawn = drawn;
    return drawn;
  }

  private beginning(m: Model): Node {
    if (this.start.length === 0) {
      return this.data.error.length > 0
        ? problem(this.data.error)
        : box("div", "", [this.data.placeholder(m, 4)]);
    }
    return box("div", "", [
      box("div", "pb row", [
        leaf("span", "", "Truncated: too large to show here."),
        drawnButton(DOWNLOAD, "Download payload", "job.download", "s"),
      ]),
      pre(this.start + "…"),
    ]);
  }
}

function pre(content: string): Node {
  return el(
    "pre",
    [cls("stack raw"), attr("tabindex", "0"), attr("aria-label", "The payload's text")],
    [multiline(content)],
  );
}
