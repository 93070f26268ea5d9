/**
 * A barrier on an HTTP/2 connection: when the answer to our PING arrives, everything that the peer had queued when it read the PING has
 * been read here.
 *
 * Node's clients, including gRPC's, cut a request by END_STREAM, and by RST_STREAM in a later write. Between the two, half a request looks
 * whole. The answer to a first PING may still overtake the second write; the answer to a second PING cannot.
 */
import type { Http2Session } from 'node:http2';

interface Pings {
  running: Promise<void> | undefined;
  next: Promise<void> | undefined;
}

const pingsOf = new WeakMap<Http2Session, Pings>();

/**
 * At most one PING is in flight per connection; callers that arrive meanwhile share the next one. Also resolves when the connection is
 * gone.
 */
export function roundTrip(session: Http2Session): Promise<void> {
  const pings = pingsOf.get(session) ?? { running: undefined, next: undefined };
  pingsOf.set(session, pings);
  if (pings.running === undefined) {
    pings.running = ping(session).finally(() => {
      pings.running = undefined;
    });
    return pings.running;
  }
  pings.next ??= pings.running.then(() => {
    pings.next = undefined;
    return roundTrip(session);
  });
  return pings.next;
}

function ping(session: Http2Session): Promise<void> {
  return new Promise((resolve) => {
    if (session.destroyed || !session.ping(() => resolve())) resolve();
  });
}
