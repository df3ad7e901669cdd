// Measures the admin's effect on workers: how much longer a fetch of jobs takes while a page is open. Also measures how
// much longer a client waits for answers while five hundred other clients never finish their requests.
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../../engine/statistics.ts";
import { probeFetches } from "../fetch-prober.ts";
import { answerMs, atMost, line, type Measure, short } from "../measure.ts";

export const fetchesBeside: Measure = {
  name: "fetches beside",
  needs: ["/api/events"],
  writes: true,
  run: async (bench) => {
    const prober = await probeFetches(bench.url, bench.schema);
    try {
      await pause(3_000);
      prober.p95();
      await pause(10_000);
      const quiet = prober.p95();
      const stream = await bench.admin.watch("/api/events?events=pulse,counts,incidents,horizon");
      await pause(15_000);
      const beside = prober.p95();
      stream?.close();
      return [
        line("fetch p95, quiet", "", `${short(quiet)} ms`, null),
        atMost("fetch p95 beside a watched page", beside / quiet, 1.3, "×"),
      ];
    } finally {
      await prober.stop();
    }
  },
};

const SOCKETS = 500;

export const slowloris: Measure = {
  name: "slowloris",
  needs: ["/api/session"],
  run: async (bench) => {
    const p99 = async () => {
      const times: number[] = [];
      for (let n = 0; n < 300; n++) times.push(await answerMs(bench, "/api/session"));
      return percentile(times, 0.99);
    };
    await p99();
    const quiet = await p99();
    const sockets = Array.from({ length: SOCKETS }, () => {
      const socket = net.connect(bench.admin.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write("GET /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\n");
      return socket;
    });
    const drip = setInterval(() => {
      for (const socket of sockets) socket.write("X-A: b\r\n");
    }, 1_000);
    await pause(2_000);
    const beside = await p99();
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    return [
      line("p99 of a client, quiet", "", `${short(quiet)} ms`, null),
      atMost(`p99 beside ${SOCKETS} slow sockets`, beside / quiet, 2, "×"),
    ];
  },
};
