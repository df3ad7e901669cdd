// Lets a member (a worker process) kill itself at a chosen packet. Only packets on the connections of the safe mode
// are counted.
import net from "node:net";
import { machineTime, type RunLog } from "../../worker/run-log.ts";

export interface KillPoint {
  /**
   * When the member kills itself. `before`: before it sends the packet. `sent`: after the packet is sent, so the server
   * may commit. `answered`: after the next data from the server has arrived, but before the data is handled.
   */
  readonly phase: "before" | "sent" | "answered";
  /** The number of the packet, counted from 1. */
  readonly packet: number;
  /** The start of the count: the start of the first job, or SIGTERM. */
  readonly since: "start" | "SIGTERM";
}

/** At the packet, the process logs the death of `by` and kills itself. Call the returned function when a job starts. */
export function killAt({ phase, packet, since }: KillPoint, log: RunLog, by: string): () => void {
  const die = () => {
    log.write({ e: "dead", by, t: machineTime() });
    process.kill(process.pid, "SIGKILL");
  };
  const lanes = new WeakSet<net.Socket>();
  let isCounting = false;
  let left = packet;
  if (since === "SIGTERM") process.prependListener("SIGTERM", () => (isCounting = true));
  const { write } = net.Socket.prototype;
  const watched = function (this: net.Socket, chunk: Uint8Array | string, ...rest: unknown[]) {
    const bytes = Buffer.from(chunk as string);
    if (bytes.includes(LANE)) lanes.add(this);
    if (!isCounting || !lanes.has(this) || --left !== 0) {
      return Reflect.apply(write, this, [chunk, ...rest]);
    }
    if (phase === "before") die();
    if (phase === "answered") this.prependOnceListener("data", die);
    const wasTaken = Reflect.apply(write, this, [chunk, ...rest]);
    if (phase === "sent") Reflect.apply(write, this, [EMPTY, die]);
    return wasTaken;
  };
  net.Socket.prototype.write = watched as typeof write;
  return () => {
    isCounting ||= since === "start";
  };
}

/** The `application_name` of the safe mode's connections. It is in the first packet of each. */
const LANE = "worker connection";
const EMPTY = Buffer.alloc(0);
