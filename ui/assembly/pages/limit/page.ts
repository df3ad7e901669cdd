/** The page of one limit: how much of it is used, by which workers or queues, and its back-offs of the last hour. */
import { ListedLimit, readListedLimit } from "../../generated/records";
import { ServerData } from "../../kit/server-data";
import { JsonReader } from "../../lib/json-reader";
import { box, Node, nothing } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import {
  endButton,
  LIMIT,
  limitKeys,
  removeButton,
  setButton,
  setKey,
} from "../../operations/limiting";
import { endBackOff, limitState } from "../../parts/limit";
import { NamedPage } from "../named-page";
import { about, use } from "./view";

export class LimitPage extends NamedPage {
  private limit: ListedLimit = ListedLimit.empty();

  constructor() {
    super("limit", "/limits", "Limits", new ServerData("limit.details"));
  }

  override refresh(m: Model): void {
    endBackOff(m, this.limit);
    super.refresh(m);
  }

  protected override get at(): string {
    return "api/limits/" + encode(this.wanted);
  }

  protected override get writes(): string {
    return "/limits";
  }

  override onAnswer(m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const limit = readListedLimit(r);
    if (this.data.finish(m, r)) this.limit = limit;
  }

  override shortcuts(m: Model): Shortcut[] {
    return this.isShown && m.access.canWrite ? limitKeys(this.limit, setKey(), "This limit") : [];
  }

  protected override state(m: Model): Node {
    return limitState(m, this.limit);
  }

  protected override acts(m: Model): Node[] {
    const name = this.limit.name;
    return [
      this.limit.backingOff === null ? nothing : endButton(m, name),
      removeButton(m, name, ""),
      setButton(m, "Change…", LIMIT + name, "p"),
    ];
  }

  protected override body(m: Model): Node {
    return box("div", "cols b", [use(m, this.limit), about(m, this.limit)]);
  }
}
