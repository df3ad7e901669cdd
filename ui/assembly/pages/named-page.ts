/** The base class of pages that show one named thing, such as a queue or a worker. */
import { link } from "../controls/button";
import { empty } from "../controls/empty";
import { capital } from "../controls/glyph";
import { crumbs, heading, headOf } from "../controls/panel";
import { navigate } from "../host";
import { ServerData } from "../kit/server-data";
import { quote } from "../lib/json-writer";
import { box, Node, nothing, text } from "../lib/node";
import { decode } from "../lib/percent";
import { Address } from "../model/address";
import { Model, Page } from "../model/model";
import { Pending } from "../model/requests";
import { exactName } from "../parts/exact-name";

/** The interval at which refresh() requests the data while the counts of jobs change. */
const SOON_MS: f64 = 4000;

export abstract class NamedPage extends Page {
  /** The name of the thing, from the address. */
  protected wanted: string = "";
  private isRemoved: bool = false;

  /**
   * `kind`: a noun such as `limit`. `list` and `above`: the path and the title of the list page. The topic of `data`
   * begins with the name of this page and a dot.
   */
  constructor(
    readonly kind: string,
    private readonly list: string,
    private readonly above: string,
    protected readonly data: ServerData,
  ) {
    super(data.topic.substring(0, data.topic.indexOf(".")), list + "/");
    this.under = list.substring(1);
  }

  override matches(address: Address): bool {
    return address.path.startsWith(this.path);
  }

  override title(): string {
    return `${this.heading} ${this.wanted}`;
  }

  private get heading(): string {
    return capital(this.kind);
  }

  override turn(m: Model, address: Address): void {
    const wanted = this.nameIn(address);
    if (wanted !== this.wanted) this.reset(m);
    this.wanted = wanted;
    this.isRemoved = false;
  }

  protected nameIn(address: Address): string {
    return decode(address.path.substring(this.path.length));
  }

  override reset(_m: Model): void {
    this.data.reset();
  }

  /** The address of the page's data in the API. */
  protected abstract get at(): string;

  override load(m: Model): void {
    this.data.request(m, this.at);
  }

  override refresh(m: Model): void {
    this.data.requestEvery(m, this.at, SOON_MS);
  }

  override onFailure(_m: Model, _request: Pending, status: i32, reason: string): void {
    this.data.failedWith(status, reason);
  }

  /** If the write has removed the shown thing, the next reload() opens the list page. */
  override onWrite(write: Pending): void {
    const body = write.body;
    const isAbout = write.path === "api" + this.writes && body.endsWith(`:${quote(this.wanted)}}`);
    this.isRemoved = isAbout && body.startsWith('{"action":"remove"');
  }

  /** The path, without `api`, of writes that can remove the shown thing; empty: none. */
  protected get writes(): string {
    return "";
  }

  override reload(m: Model): void {
    if (this.isRemoved) navigate(this.list, true);
    else this.load(m);
  }

  protected get isShown(): bool {
    return this.data.ready && !this.data.missing;
  }

  /** The thing's state, beside the name. */
  protected state(_m: Model): Node {
    return nothing;
  }

  /** The sentence after the name and the state; empty: none. */
  protected remark(): string {
    return "";
  }

  /** The buttons of the page's head. */
  protected abstract acts(m: Model): Node[];

  protected abstract body(m: Model): Node;

  protected notFoundText(): string {
    return `No ${this.kind} is named “${this.wanted}”.`;
  }

  override view(m: Model): Node {
    const isShown = this.isShown;
    return box("div", this.name + "-page", [
      crumbs([link(this.list, "", [text(this.above)])]),
      headOf(
        [heading([exactName(this.wanted, "")]), isShown ? this.state(m) : nothing],
        isShown ? this.remark() : "",
        isShown ? this.acts(m) : [],
      ),
      this.data.missing
        ? empty(this.heading + " not found", this.notFoundText(), this.list, `All ${this.kind}s`)
        : isShown
          ? this.body(m)
          : this.data.placeholder(m, 6),
    ]);
  }
}
