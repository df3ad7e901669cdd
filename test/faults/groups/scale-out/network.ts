// A network of hosts on one machine. Each host is a network namespace with an address of its own. A virtual cable
// connects the host to a bridge, and can be cut. While its cable is cut, a host sends and receives nothing, so its
// peers are not notified when its connections end.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { waitUntil } from "../../../support/until.ts";

const run = promisify(execFile);
const ip = (line: string) => run("ip", line.split(" "));

export interface Host {
  readonly name: string;
  readonly address: string;
  /** The command that, put before a program's command line, runs the program on the host. */
  readonly command: readonly string[];
  /** Cuts the cable; join() connects it again. */
  cut(): Promise<void>;
  join(): Promise<void>;
}

export interface Network {
  /** Returns the address with this number in the network of the bridge. */
  addressOf(number: number): string;
  /** Adds the address with this number to the machine itself, and returns it. */
  ownAddress(number: number): Promise<string>;
  host(name: string): Promise<Host>;
  close(): Promise<void>;
}

/** The first three bytes of all addresses: a range that no other network of this machine is likely to use. */
const NET = `10.213.${process.pid % 250}`;
const MACHINE = 1;
const FIRST_HOST = 101;

export async function makeNetwork(): Promise<Network> {
  const mark = `wf${process.pid % 100_000}`;
  const spaces: string[] = [];
  const addressOf = (number: number) => `${NET}.${number}`;
  await ip(`link add ${mark} type bridge`);
  await ip(`addr add ${addressOf(MACHINE)}/24 dev ${mark}`);
  await ip(`link set ${mark} up`);
  return {
    addressOf,
    async ownAddress(number) {
      await ip(`addr add ${addressOf(number)}/24 dev ${mark}`);
      return addressOf(number);
    },
    async host(name) {
      const number = FIRST_HOST + spaces.length;
      const space = `${mark}-${name}`;
      const cable = `${mark}v${number}`;
      spaces.push(space);
      await ip(`netns add ${space}`);
      await ip(`link add ${cable} type veth peer name eth0 netns ${space}`);
      await ip(`link set ${cable} master ${mark} up`);
      for (const line of [
        "link set lo up",
        `addr add ${addressOf(number)}/24 dev eth0`,
        "link set eth0 up",
      ]) {
        await ip(`-n ${space} ${line}`);
      }
      return {
        name,
        address: addressOf(number),
        command: ["ip", "netns", "exec", space],
        cut: async () => void (await ip(`link set ${cable} down`)),
        async join() {
          await ip(`link set ${cable} up`);
          const isIn = async () =>
            (await ip(`-n ${space} link show eth0`)).stdout.includes("state UP");
          await waitUntil(`the cable of ${name} is connected`, isIn);
          // Clears the cache of addresses: addresses that did not respond while the cable was cut count as unreachable.
          await ip(`-n ${space} neigh flush dev eth0`);
        },
      };
    },
    async close() {
      for (const space of spaces) await ip(`netns del ${space}`).catch(() => {});
      await ip(`link del ${mark}`).catch(() => {});
    },
  };
}
