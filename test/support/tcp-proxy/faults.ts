// What can be done to connections: to all of them, or to those of one application. What lasts also meets
// those that come later.
import { type Cut, type CutOptions, cutBefore, cutBehind } from "./cuts.ts";
import { DIRECTIONS, type Direction, type Link } from "./link.ts";
import type { Chunk } from "./messages.ts";
import { type Conditions, calm } from "./pipe.ts";

export class Faults {
  readonly #links: ReadonlySet<Link>;
  readonly #application: string | null;
  /** For those that come later. */
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

  /** How many of these connections have come so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many there are. */
  get open(): number {
    return this.#those.length;
  }

  /** How many of them cutBehind() and cutAnswer() have cut so far. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Resolves when the server has ended all that was cut: it has done by then what it was asked. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** So long takes everything, one way. */
  delay(delayMs: number): void {
    this.#set(DIRECTIONS, { delayMs });
  }

  /** So much passes in each direction of each connection. */
  throttle(bytesPerSecond: number): void {
    this.#set(DIRECTIONS, { bytesPerSecond });
  }

  /**
   * Nothing passes and nothing is closed, as if a cable were pulled. `all`: also of those that come later,
   * which are accepted and hear nothing. `established`: only those that are there, as when a firewall has
   * forgotten them. `only`: the other direction goes on.
   */
  mute(which: "all" | "established" = "all", only?: Direction): void {
    this.#set(only === undefined ? DIRECTIONS : [only], { isMuted: true }, which === "all");
  }

  /** What was held back arrives, and all goes on. */
  resume(): void {
    this.#set(DIRECTIONS, { isMuted: false });
  }

  /** Nothing of all that lasts does any longer. */
  calm(): void {
    this.#cut = null;
    this.#set(DIRECTIONS, calm());
    this.#lasting = { requests: {}, answers: {} };
  }

  /** Those that are there are cut at once (RST), or those among them that `which` picks by their place. */
  reset(which: (place: number) => boolean = () => true): void {
    for (const [place, link] of this.#those.entries()) if (which(place)) link.reset();
  }

  /** What goes in that direction has ended in order (FIN), the other one goes on. */
  halfClose(direction: Direction): void {
    for (const link of this.#those) link.halfClose(direction);
  }

  /** That end is gone, and the other one is not told: half open. */
  lose(end: "client" | "server"): void {
    for (const link of this.#those) link.lose(end);
  }

  /** Once: the connection is cut on which the n-th message from now passes, right behind it. 0: before one. */
  cutBehind(count: number, options: CutOptions = {}): void {
    this.#cut = cutBehind(count, options);
  }

  /** Once: the server has done what its answer with this text tells, and nobody hears of it. */
  cutAnswer(text: string): void {
    this.#cut = cutBefore(text);
  }

  /** Of the proxy: a connection has come. */
  meet(link: Link): void {
    if (!this.#isMine(link)) return;
    this.#accepted += 1;
    for (const direction of DIRECTIONS) this.#apply(link, direction, this.#lasting[direction]);
  }

  /** Of the proxy: something is about to pass. */
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
