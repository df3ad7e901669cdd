// The faults that a test causes on connections of a proxy. Lasting faults (delay, throttle, and mute without
// `established`) affect future connections, too.
import { type Cut, type CutOptions, cutBefore, cutBehind } from "./cuts.ts";
import { DIRECTIONS, type Direction, type Link } from "./link.ts";
import type { Chunk } from "./messages.ts";
import { type Conditions, calm } from "./pipe.ts";

export class Faults {
  readonly #links: ReadonlySet<Link>;
  readonly #application: string | null;
  /** The conditions of future connections. */
  #lasting: Record<Direction, Partial<Conditions>> = { requests: {}, answers: {} };
  #cut: Cut | null = null;
  #accepted = 0;
  #cuts = 0;
  #ended: Promise<unknown> = Promise.resolve();

  /** `application`: the `application_name` of the affected connections; null: all. */
  constructor(links: ReadonlySet<Link>, application: string | null) {
    this.#links = links;
    this.#application = application;
  }

  /** The number of affected connections that were accepted since this object was created. */
  get accepted(): number {
    return this.#accepted;
  }

  /** The number of affected connections that are open. */
  get open(): number {
    return this.#those.length;
  }

  /** The number of connections that cutBehind() and cutAnswer() have cut so far. */
  get cuts(): number {
    return this.#cuts;
  }

  /**
   * Resolves when the server has closed every connection that was cut so far. By then, the server has executed
   * everything that it received on these connections.
   */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** Delays all data in each direction. */
  delay(delayMs: number): void {
    this.#set(DIRECTIONS, { delayMs });
  }

  /** Limits the rate in each direction of each connection. */
  throttle(bytesPerSecond: number): void {
    this.#set(DIRECTIONS, { bytesPerSecond });
  }

  /**
   * Stops all data without closing anything, as if a cable were pulled. `all`: also on future connections.
   * `established`: only on existing connections, as if a firewall had dropped its state.
   */
  mute(which: "all" | "established" = "all", only?: Direction): void {
    this.#set(only === undefined ? DIRECTIONS : [only], { isMuted: true }, which === "all");
  }

  /** Ends mute(), and delivers the data that were stopped. */
  resume(): void {
    this.#set(DIRECTIONS, { isMuted: false });
  }

  /** Ends delay(), throttle() and mute(), and cancels a cut that has not happened yet. */
  calm(): void {
    this.#cut = null;
    this.#set(DIRECTIONS, calm());
    this.#lasting = { requests: {}, answers: {} };
  }

  /** Resets existing connections at once (RST). `which` selects connections by their index. */
  reset(which: (place: number) => boolean = () => true): void {
    for (const [place, link] of this.#those.entries()) if (which(place)) link.reset();
  }

  /** Ends one direction of each connection normally (FIN). */
  halfClose(direction: Direction): void {
    for (const link of this.#those) link.halfClose(direction);
  }

  /** Resets each connection at one end only (RST). The connection of the other end remains open. */
  lose(end: "client" | "server"): void {
    for (const link of this.#those) link.lose(end);
  }

  /**
   * Cuts the connection of message number `count`, right after this message. Messages are counted from now on, on all
   * affected connections together. With 0, the cut is right before the next message.
   */
  cutBehind(count: number, options: CutOptions = {}): void {
    this.#cut = cutBehind(count, options);
  }

  /** Cuts the connection of the next response that contains this text, right before this response. */
  cutAnswer(text: string): void {
    this.#cut = cutBefore(text);
  }

  /** If a new connection is affected, counts the connection and applies the lasting faults to it. */
  meet(link: Link): void {
    if (!this.#isMine(link)) return;
    this.#accepted += 1;
    for (const direction of DIRECTIONS) this.#apply(link, direction, this.#lasting[direction]);
  }

  /** Called by the proxy before a chunk passes. Returns how many bytes of the chunk pass before a cut; null: no cut. */
  cutIn(link: Link, direction: Direction, chunk: Chunk): number | null {
    if (this.#cut === null || !this.#isMine(link)) return null;
    const passing = this.#cut.in(link, direction, chunk);
    if (passing === null) return null;
    this.#cut = null;
    this.#cuts += 1;
    this.#ended = Promise.all([this.#ended, link.closed]);
    return passing;
  }

  get #those(): Link[] {
    return [...this.#links].filter((link) => this.#isMine(link));
  }

  #isMine({ application }: Link): boolean {
    return this.#application === null || this.#application === application;
  }

  #set(directions: readonly Direction[], change: Partial<Conditions>, also = true): void {
    for (const direction of directions) {
      if (also) Object.assign(this.#lasting[direction], change);
      for (const link of this.#those) this.#apply(link, direction, change);
    }
  }

  #apply(link: Link, direction: Direction, change: Partial<Conditions>): void {
    Object.assign(link[direction].conditions, change);
    link[direction].pump();
  }
}
