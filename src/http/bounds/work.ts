// Limits how many requests or downloads are in progress at once: in total, and for each client, so that one client
// cannot use all places.

export interface Work {
  /** Takes a place for a request of the client, and returns the function that frees it; null if hasRoom() is false. */
  enter(client: string): (() => void) | null;
  /** Whether a place is free, and the client does not yet have its maximum number of places. */
  hasRoom(client: string): boolean;
}

export function createWork(inAll: number, perClient: number): Work {
  const byClient = new Map<string, number>();
  let total = 0;
  const placesOf = (client: string) => byClient.get(client) ?? 0;
  const hasRoom = (client: string) => total < inAll && placesOf(client) < perClient;
  return {
    hasRoom,
    enter(client) {
      if (!hasRoom(client)) return null;
      total += 1;
      byClient.set(client, placesOf(client) + 1);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        total -= 1;
        const left = placesOf(client) - 1;
        if (left > 0) byClient.set(client, left);
        else byClient.delete(client);
      };
    },
  };
}
