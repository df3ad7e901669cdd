// The faults of connections: of all of them, or of those of one application. Lasting faults also affect
// future ones.
import { type Cut, type CutOptions, cutBefore, cutBehind } from "./cuts.ts";
import { DIRECTIONS, type Direction, type Link } from "./link.ts";
import type { Chunk } from "./messages.ts";
import { type Conditions, calm } from "./pipe.ts";

export class Faults {
  readonly #links: ReadonlySet<Link>;
  readonly #application: string | null;
  /** For future connections. */
  #lasting: Record<Direction, Partial<Conditions>> = { requests: {}, answers: {} };
  #cut: Cut | null = null;
  #accepted = 0;
  #cuts = 0;
  #ended: Promise<unknown> = Promise.resolve();

  /** `application`: its `application_name`; null: all. */
  constructor(links: ReadonlySet<Link>, application: string | null) {
    this.#links = links;
    this.#application = application;
  }

  /** How many of these connections have been accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many are open. */
  get open(): number {
    return this.#those.length;
  }

  /** How many cutBehind() and cutAnswer() have cut so far. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Resolves when the server has closed everything that was cut, and so has run all it had received. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** Delays everything by this time, one way. */
  delay(delayMs: number): void {
    this.#set(DIRECTIONS, { delayMs });
  }

  /** Limits the rate in each direction of each connection. */
  throttle(bytesPerSecond: number): void {
    this.#set(DIRECTIONS, { bytesPerSecond });
  }

  /**
   * Nothing passes and nothing is closed, as if a cable were pulled. `all`: also future connections, which
   * are accepted and receive nothing. `established`: only existing ones, as when a firewall has dropped its
   * state. `only`: the other direction continues.
   */
  mute(which: "all" | "established" = "all", only?: Direction): void {
    this.#set(only === undefined ? DIRECTIONS : [only], { isMuted: true }, which === "all");
  }

  /** Delivers buffered data and ends mute(). */
  resume(): void {
    this.#set(DIRECTIONS, { isMuted: false });
  }

  /** Ends all lasting faults. */
  calm(): void {
    this.#cut = null;
    this.#set(DIRECTIONS, calm());
    this.#lasting = { requests: {}, answers: {} };
  }

  /** Resets existing connections at once (RST), or those that `which` selects by their index. */
  reset(which: (place: number) => boolean = () => true): void {
    for (const [place, link] of this.#those.entries()) if (which(place)) link.reset();
  }

  /** Ends one direction normally (FIN); the other one continues. */
  halfClose(direction: Direction): void {
    for (const link of this.#those) link.halfClose(direction);
  }

  /** One end is lost, and the other one is not notified: half open. */
  lose(end: "client" | "server"): void {
    for (const link of this.#those) link.lose(end);
  }

  /** Once: cuts the connection on which the n-th message from now passes, right after it. 0: before one. */
  cutBehind(count: number, options: CutOptions = {}): void {
    this.#cut = cutBehind(count, options);
  }

  /** Once: the server has executed the statement whose response contains this text, and the response is lost. */
  cutAnswer(text: string): void {
    this.#cut = cutBefore(text);
  }

  /** Called by the proxy for a new connection. */
  meet(link: Link): void {
    if (!this.#isMine(link)) return;
    this.#accepted += 1;
    for (const direction of DIRECTIONS) this.#apply(link, direction, this.#lasting[direction]);
  }

  /** Called by the proxy for each chunk. */
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
