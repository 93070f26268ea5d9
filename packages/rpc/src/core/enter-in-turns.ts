/**
 * When requests enter: a few in each turn of the event loop, one connection after another. Without this, a connection that sends a thousand
 * requests in one packet has them all answered before anybody else, and each further connection adds as many. A request of another
 * connection now waits for at most one of each.
 *
 * Long computations take turns of their own (`runInTurns`), so that what a few requests cost stays short.
 */

/** Of all connections of the process. An ordinary call costs 0.1 to 0.3 ms in all, so that a turn takes a few milliseconds. */
export const requestsInOneTurn = 16;

export interface EnteringRequest {
  enter(): void;
  /** Then it does not enter, and costs nothing. */
  isGone(): boolean;
}

const waiting = new Map<object, EnteringRequest[]>();
let entered = 0;
let isScheduled = false;

/** Lets it enter at once if neither this turn is full nor somebody waits. @param connection whose requests keep their order */
export function enterInTurns(connection: object, request: EnteringRequest): void {
  schedule();
  if (waiting.size === 0 && entered < requestsInOneTurn) {
    entered++;
    request.enter();
    return;
  }
  const ofConnection = waiting.get(connection);
  if (ofConnection === undefined) waiting.set(connection, [request]);
  else ofConnection.push(request);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    entered = 0;
    if (waiting.size === 0) return;
    schedule();
    while (entered < requestsInOneTurn) {
      const next = takeNext();
      if (next === undefined) return;
      if (next.isGone()) continue;
      entered++;
      next.enter();
    }
  });
}

function takeNext(): EnteringRequest | undefined {
  for (const [connection, requests] of waiting) {
    const next = requests.shift();
    waiting.delete(connection);
    // The others come first.
    if (requests.length > 0) waiting.set(connection, requests);
    return next;
  }
  return undefined;
}
