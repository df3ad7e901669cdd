/** One limit: how much of it is used, by which workers or queues, and when it backed off. */
import { link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { crumbs, heading, headOf } from "../../controls/panel";
import { ListedLimit, readListedLimit } from "../../generated/records";
import { navigate } from "../../host";
import { Fetched } from "../../kit/fetched";
import { JsonReader } from "../../lib/json-reader";
import { box, Node, nothing, text } from "../../lib/node";
import { decode, encode } from "../../lib/percent";
import { Address } from "../../model/address";
import { Model, Page } from "../../model/model";
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
import { exactName } from "../../parts/exact-name";
import { limitState } from "../../parts/limit";
import { about, use } from "./view";

const START = "/limits/";
const SOON_MS: f64 = 4000;

export class LimitPage extends Page {
  private asked: Fetched = new Fetched("limit.details");
  private limit: ListedLimit = ListedLimit.empty();
  /** The name in the address. */
  private wanted: string = "";
  private isRemoved: bool = false;

  constructor() {
    super("limit", START);
    this.under = "limits";
  }

  override matches(address: Address): bool {
    return address.path.startsWith(START);
  }

  override title(): string {
    return "Limit " + this.wanted;
  }

  override turn(_m: Model, address: Address): void {
    const wanted = decode(address.path.substring(START.length));
    if (wanted !== this.wanted) this.asked.forget();
    this.wanted = wanted;
    this.isRemoved = false;
  }

  override forget(_m: Model): void {
    this.asked.forget();
    this.limit = ListedLimit.empty();
  }

  private get at(): string {
    return "api/limits/" + encode(this.wanted);
  }

  override load(m: Model): void {
    this.asked.ask(m, this.at);
  }

  /** There is nothing more to see of a limit that was removed here. */
  override written(write: Pending): void {
    this.isRemoved = write.path === "api/limits" && write.body.includes('"remove"');
  }

  override reload(m: Model): void {
    if (this.isRemoved) navigate("/limits", true);
    else this.load(m);
  }

  override refresh(m: Model): void {
    this.asked.askEvery(m, this.at, SOON_MS);
  }

  override take(m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const limit = readListedLimit(r);
    if (!this.asked.ended(m, r)) return;
    this.limit = limit;
  }

  override miss(_m: Model, _request: Pending, status: i32, reason: string): void {
    this.asked.missed(status, reason);
  }

  private get isShown(): bool {
    return this.asked.ready && !this.asked.missing;
  }

  override shortcuts(m: Model): Shortcut[] {
    return this.isShown && m.access.canWrite ? limitKeys(this.limit, setKey(), "This limit") : [];
  }

  override view(m: Model): Node {
    const asked = this.asked;
    const ready = this.isShown;
    const limit = this.limit;
    const name = limit.name;
    return box("div", "limit-page", [
      crumbs([link("/limits", "", [text("Limits")])]),
      headOf(
        [heading([exactName(this.wanted, "")]), ready ? limitState(m, limit) : nothing],
        "",
        ready
          ? [
              limit.backingOff === null ? nothing : endButton(m, name),
              removeButton(m, name, ""),
              setButton(m, "Edit…", LIMIT + name, "p"),
            ]
          : [],
      ),
      asked.missing
        ? empty("Limit not found", `No limit is named “${this.wanted}”.`, "/limits", "All limits")
        : ready
          ? box("div", "cols b", [use(m, limit), about(m, limit)])
          : asked.placeholder(m, 6),
    ]);
  }
}
