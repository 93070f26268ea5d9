/**
 * One channel on the side of the server: gives each frame to its call. A peer that sends anything but frames loses its channel; whatever
 * one call does, the others go on.
 */
import { fromBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { errorText, PlatformError } from '@platform/base';
import { type Request, RequestSchema } from '@platform/proto/proto/rpc/webrtc/v1/grpc';
import { enterInTurns } from '../../core/enter-in-turns.ts';
import { findExcess } from '../../core/wire-shape.ts';
import { heartbeatFrame, silentMs } from '../frames.ts';
import type { CallHost, ServedChannelDeps } from './call-host.ts';
import { ServedCall } from './served-call.ts';

/** Fields of one frame: those of its headers, in effect. */
const maxFrameElements = 2_000;
/** Calls in progress; public clients open at most 256. */
const maxCalls = 256;
/** Parts of requests that no method has taken yet, and answers that the peer does not read, of all calls of a channel. */
const maxWaitingBytes = 64 * 1024 * 1024;

export class ServedChannel<P> implements CallHost<P> {
  /** Resolves when the channel has ended. */
  readonly ended: Promise<void>;
  readonly #deps: ServedChannelDeps<P>;
  readonly #calls = new Map<bigint, ServedCall<P>>();
  #lastId = -1n;
  #heardMs: number;
  #watch: Disposable | undefined;
  #waitingBytes = 0;

  constructor(deps: ServedChannelDeps<P>) {
    this.#deps = deps;
    this.#heardMs = deps.clock.monotonic();
    const { channel } = deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    const end = (): void => {
      this.#watch?.[Symbol.dispose]();
      for (const call of [...this.#calls.values()]) call.cancel();
      resolve();
    };
    if (channel.ended.aborted) end();
    else channel.ended.addEventListener('abort', end, { once: true });
    channel.onMessage = (message) => this.#receive(message);
  }

  get deps(): ServedChannelDeps<P> {
    return this.#deps;
  }

  /** Ends its calls with the reason, and then the channel. */
  async shutDown(reason: ConnectError): Promise<void> {
    await Promise.all([...this.#calls.values()].map((call) => call.end(reason)));
    const { channel, clock } = this.#deps;
    // A peer that does not read must not hold up the stop.
    for (let waits = 0; channel.bufferedBytes > 0 && !channel.ended.aborted && waits < 50; waits++)
      await clock.sleep(20);
    channel.close();
  }

  take(bytes: number): boolean {
    if (this.#waitingBytes + bytes > maxWaitingBytes) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  leave(id: bigint): void {
    this.#calls.delete(id);
  }

  #receive(message: Uint8Array): void {
    this.#heardMs = this.#deps.clock.monotonic();
    const request = this.#decoded(message);
    if (request === undefined) return;
    const id = request.stream?.id ?? 0n;
    const { type } = request;
    switch (type.case) {
      case 'headers':
        // Ids only grow. A second head of a call is a mistake of the peer, which the first survives.
        if (id > this.#lastId) this.#open(id, type.value);
        break;
      case 'message':
        this.#calls.get(id)?.receive(type.value);
        break;
      case 'rstStream':
        this.#calls.get(id)?.cancel();
        break;
      default:
        this.#beat();
    }
  }

  #open(id: bigint, headers: Extract<Request['type'], { case: 'headers' }>['value']): void {
    this.#lastId = id;
    const call = new ServedCall<P>(this, id, headers, this.#watch === undefined && this.#calls.size === 0);
    if (this.#calls.size >= maxCalls) {
      call.refuse(
        new PlatformError(
          'resource_exhausted',
          `expected at most ${maxCalls} calls in progress on one connection, found more; try again when some have ended`,
        ),
      );
      return;
    }
    this.#calls.set(id, call);
    enterInTurns(this, { isGone: () => call.hasEnded, enter: () => void call.run() });
  }

  /** A peer that announces itself in this way must go on doing so. */
  #beat(): void {
    const { channel, clock, log, peer } = this.#deps;
    channel.send(heartbeatFrame);
    this.#watch ??= clock.every(silentMs / 5, () => {
      if (clock.monotonic() - this.#heardMs < silentMs) return;
      log.info('a caller has gone silent; its connection ends', { peer: peer.address });
      channel.close();
    });
  }

  #decoded(message: Uint8Array): Request | undefined {
    const { channel, log, peer } = this.#deps;
    try {
      if (findExcess(RequestSchema, message, maxFrameElements) === undefined) return fromBinary(RequestSchema, message);
      log.debug('a caller sent a frame with too many fields; its connection ends', { peer: peer.address });
    } catch (caught) {
      log.debug('a caller sent something that is no frame; its connection ends', {
        peer: peer.address,
        error: errorText(caught),
      });
    }
    channel.close();
    return undefined;
  }
}
