// Lets a member (member.ts) kill itself at a chosen packet that it sends on the safe mode's connections, which fetch
// jobs and write results. The packets are counted from the first job's start, or from SIGTERM.
import net from "node:net";
import { machineTime, type RunLog } from "../../worker/run-log.ts";

export interface KillPoint {
  /**
   * `before`: the packet is not sent. `sent`: the server gets it, and may commit. `answered`: the server's answer has
   * arrived, and is not read.
   */
  readonly phase: "before" | "sent" | "answered";
  /** The number of the packet, counted from 1. */
  readonly packet: number;
  readonly since: "start" | "SIGTERM";
}

/**
 * Logs the death of this process, the member `by`, and kills it at the packet. Call the returned function when a job
 * starts.
 */
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

/** The name of the safe mode's connections. The first packet of each contains it. */
const LANE = "worker connection";
const EMPTY = Buffer.alloc(0);
