// Runs a worker (recovery-child.ts) and simulates a machine that is suspended: while the process is frozen, its
// monotonic clock does not advance.
const realNs = process.hrtime.bigint.bind(process.hrtime);
const realMs = performance.now.bind(performance);
/** The clock is read every 20 ms. If more than FROZEN_NS pass between two reads, the process was frozen. */
const FROZEN_NS = 500_000_000n;
let lastNs = realNs();
let suspendedNs = 0n;

function suspended(): bigint {
  const nowNs = realNs();
  if (nowNs - lastNs > FROZEN_NS) suspendedNs += nowNs - lastNs;
  lastNs = nowNs;
  return suspendedNs;
}

setInterval(suspended, 20).unref();
process.hrtime.bigint = () => realNs() - suspended();
performance.now = () => realMs() - Number(suspended()) / 1e6;
await import("./recovery-child.ts");
