/**
 * Holds the link over which the cloud passes calls on to this machine. The machine connects, so it can be reached behind a router. The link
 * has a separate connection, so that uploads do not delay a stop.
 *
 * Heartbeats go to the cloud, by which it knows that this machine is online (D17), and it answers them. A connection whose PINGs are answered
 * may end at a proxy; a heartbeat without an answer shows that the cloud is no longer behind it.
 *
 * States: connecting → open → broken → waiting (longer each time) → connecting … A broken link ends its calls, and a resource that a
 * session moved is stopped when the heartbeats no longer arrive. No state lasts longer than 20 s without a message of the cloud, and each
 * attempt has its own connection, so the first attempt after a network is whole again succeeds (ADR-0066).
 */
import { asPlatformError, backoffMs, type Clock, inBackground, type Log, unavailable } from '@platform/base';
import { type OpenLinkRequest, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { byteStreamOver, isAnswer, KeepAlive, type Link } from '@platform/rpc/client';
import type { TunnelServer } from '@platform/rpc/server';
import { stopwatch } from '../logging/stopwatch.ts';
import type { CloudReach } from './cloud-reach.ts';

/** A second after the first failure, then up to 10 s: whoever must stop this machine waits for the link. */
const backoff = { firstMs: 1_000, maxMs: 10_000 };
/** A link that was open for this long starts again with the shortest wait. */
const stableMs = 30_000;
/** The cloud regards a part as offline after 60 s without a message. */
const heartbeatMs = 20_000;
/** A cloud that sent nothing for this long gets a heartbeat, and 5 s to answer it. */
const silentMs = 15_000;
/** A cloud without relay is rarely tried again, in case it was updated. */
const unsupportedMs = 600_000;

export interface RelayLinkDeps {
  /** Opens a connection to the cloud for calls of callers alone. */
  readonly connect: () => Link;
  readonly partId: string;
  /** Answers the calls. */
  readonly server: Pick<TunnelServer, 'serve'>;
  readonly reach: Pick<CloudReach, 'wait'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function relayLink(deps: RelayLinkDeps): AsyncDisposable {
  return inBackground((signal) => hold(deps, signal));
}

async function hold(deps: RelayLinkDeps, signal: AbortSignal): Promise<void> {
  const { connect, reach, clock, log } = deps;
  await using link = connect();
  let warned = '';
  for (let failures = 0; !signal.aborted; ) {
    const fromMs = clock.monotonic();
    const took = stopwatch(clock);
    let waitMs = 0;
    try {
      await open(deps, link, signal);
      log.debug('the cloud ended the link for remote control', took());
      failures = 0;
      warned = '';
    } catch (caught) {
      if (signal.aborted) return;
      const { code, message } = asPlatformError(caught);
      const openMs = clock.monotonic() - fromMs;
      failures = openMs >= stableMs ? 1 : failures + 1;
      if (openMs >= stableMs) warned = '';
      // A proxy without a cloud behind it may say so, too, but not in gRPC.
      const isUnsupported = code === 'unimplemented' && isAnswer(caught);
      // An attempt that took long has used its wait up.
      waitMs = isUnsupported ? unsupportedMs : Math.max(backoffMs(1, backoff), backoffMs(failures, backoff) - openMs);
      const fields = { code, error: message, waitMs: Math.round(waitMs), ...took() };
      if (isUnsupported) log.info('this cloud offers no remote control', fields);
      // Other code, which needs the cloud more, reports that it is unreachable.
      // One that repeats is told once.
      else if (code === 'unavailable' || message === warned)
        log.debug('the link for remote control broke; connecting again', fields);
      else {
        log.warn('the link for remote control broke; connecting again', fields);
        warned = message;
      }
    }
    // Nothing else shows whether a connection on which a link broke still passes bytes in both directions.
    link.reconnect();
    const leastMs = Math.max(waitMs, backoff.firstMs);
    // A cloud without relay has none when it returns either.
    if (waitMs === unsupportedMs) await clock.sleep(waitMs, signal).catch(() => {});
    else await reach.wait(leastMs, signal);
  }
}

/** Returns when the cloud has ended the link in an orderly way; throws otherwise. */
async function open({ partId, server, clock, log }: RelayLinkDeps, link: Link, signal: AbortSignal): Promise<void> {
  log.debug('opening the link for remote control');
  const took = stopwatch(clock);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  let failure: unknown;
  const bytes = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  async function* requests(): AsyncGenerator<Pick<OpenLinkRequest, 'partId'> | { data: Uint8Array }, void> {
    yield { partId };
    for await (const data of await bytes.promise) yield { data };
  }
  const responses = link.client(RelayService).openLink(requests(), { signal: ended, timeoutMs: 0 });
  async function* incoming(): AsyncGenerator<Uint8Array, void> {
    try {
      let isFirst = true;
      for await (const { data } of responses) {
        cloud.heard();
        if (isFirst) log.info('remote control through the cloud is available', took());
        else if (data.length === 0) {
          log.debug('the cloud answered a heartbeat', beatTook());
          onHeartbeatAnswered();
        }
        isFirst = false;
        yield data;
      }
    } catch (caught) {
      failure ??= caught;
    } finally {
      over.abort();
    }
  }
  const stream = byteStreamOver(incoming());
  const { duplex, outgoing } = stream;
  let heartbeat: Disposable | undefined;
  let beatTook = took;
  const beat = (): void => {
    beatTook = stopwatch(clock);
    stream.beat();
    heartbeat?.[Symbol.dispose]();
    heartbeat = clock.after(heartbeatMs, beat);
  };
  using cloud = new KeepAlive({
    // However much was sent: a line on which nothing arrives for 20 s because of it is of no use for a stop either.
    ...{ clock, silentMs, sentBytes: () => 0 },
    ping(onAnswer) {
      onHeartbeatAnswered = onAnswer;
      beat();
    },
    onDead: () => {
      failure = unavailable('the cloud does not answer heartbeats');
      over.abort();
    },
  });
  let onHeartbeatAnswered = (): void => {};
  cloud.watch();
  beat();
  // Ends calls in progress at once, both when the machine stops and when the link breaks.
  ended.addEventListener('abort', () => duplex.destroy(), { once: true });
  bytes.resolve(outgoing);
  try {
    await server.serve(duplex);
  } finally {
    over.abort();
    heartbeat?.[Symbol.dispose]();
  }
  if (failure !== undefined) throw failure;
}
