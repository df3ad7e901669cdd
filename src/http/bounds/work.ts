// Limits the requests or downloads in progress, in total and for each client, so that one client cannot use all places.

export interface Work {
  /** Takes a place for a request. Returns the function that frees the place; null if no place is free. */
  enter(client: string): (() => void) | null;
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
