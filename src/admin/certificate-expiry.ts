// Warns of a certificate that has expired or expires soon, as long as the admin runs.
import { backgroundClock, type Clock, now } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Certificate } from "../http/listen/certificate.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const SOON_MS = 7 * DAY_MS;
const EVERY_MS = DAY_MS / 2;

/** Logs a warning now and every 12 hours, from a week before the certificate expires. Returns a function that ends it. */
export function watchExpiry(
  certificate: Pick<Certificate, "expiresAt">,
  logger: Pick<Logger, "warn">,
  clock: Clock = backgroundClock,
): () => void {
  let cancel = () => {};
  const check = () => {
    const { expiresAt } = certificate;
    const leftMs = expiresAt.getTime() - now();
    const fields = { expires: expiresAt };
    if (leftMs < 0) logger.warn(fields, "the certificate has expired; browsers reject it");
    else if (leftMs < SOON_MS) logger.warn(fields, "the certificate expires within a week");
    cancel = clock.after(EVERY_MS, check);
  };
  check();
  return () => cancel();
}
