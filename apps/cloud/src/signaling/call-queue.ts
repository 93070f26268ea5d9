/**
 * The calls of all parts: callers wait for a stream of the machine, streams wait for a caller. All in memory; a restart ends the calls,
 * and clients call again.
 *
 * A call goes to exactly one stream, the newest idle one, also if two machine-servers answer for the part: a stream whose link broke silently
 * stays open until TCP notices, and the newest is the least likely to be such a one. Callers are served in the order in which they came.
 */
import { type Clock, type PlatformError, unavailable } from '@platform/base';
import type { CallUpdateRequest } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { AnswerStream } from './answer-stream.ts';
import { createKnownCalls } from './known-calls.ts';
import { Offer, type OfferTerms } from './offer.ts';
import { noActiveOffer, offline, tooManyCallers, withoutWebRtc } from './refusals.ts';

/** Two current streams, and two of an earlier connection. */
const maxStreamsOfPart = 4;
/** Callers of one machine that wait for a stream. */
const maxWaitingOfPart = 50;
/**
 * How long a caller waits for a machine that is offline or is starting again. Clients that try again at once do not hammer, and those that
 * give up after a few attempts do not do so within the time of a start.
 */
const offlineHoldMs = 5_000;
/** A machine without a stream opens the next one within this time: each serves one call, and after a failure it waits for 1 s. */
const reopenMs = 5_000;

interface Part {
  /** In the order in which they were opened. */
  readonly streams: Set<AnswerStream>;
  /** Offers that no stream has taken. */
  readonly waiting: Set<Offer>;
  /** Its last stream has ended, and it may open another one. */
  reopening: Disposable | undefined;
}

export interface CallQueue {
  /** Opens a stream; the oldest one ends if there are too many. It must be ended. */
  answer(partId: string): AnswerStream;
  /** @throws unavailable, resource_exhausted if too many wait; unimplemented if the machine can be called through the cloud only */
  call(terms: OfferTerms): Offer;
  /** @throws not_found unless the same caller has called this part; invalid_argument, resource_exhausted */
  update(from: Pick<OfferTerms, 'partId' | 'callerId'>, request: CallUpdateRequest): void;
  /** Whether the part has streams, or is about to open one. */
  isAnswering(partId: string): boolean;
  /** What is kept. */
  readonly size: { readonly parts: number; readonly calls: number; readonly ended: number };
}

export function createCallQueue(deps: {
  /** Whether calls can go to the part through the cloud. */
  hasLink(partId: string): boolean;
  readonly clock: Clock;
}): CallQueue {
  const { hasLink, clock } = deps;
  const parts = new Map<string, Part>();
  const calls = createKnownCalls(clock);

  const partOf = (partId: string): Part => {
    const part = parts.get(partId) ?? { streams: new Set(), waiting: new Set(), reopening: undefined };
    parts.set(partId, part);
    return part;
  };
  const forgetIfEmpty = (partId: string, { streams, waiting, reopening }: Part): void => {
    if (streams.size === 0 && waiting.size === 0 && reopening === undefined) parts.delete(partId);
  };
  const isAnswering = (partId: string): boolean => {
    const part = parts.get(partId);
    return part !== undefined && (part.streams.size > 0 || part.reopening !== undefined);
  };
  /** Why the part cannot be called now; undefined if it can. */
  const refusalOf = (partId: string, isHeld: boolean): PlatformError | undefined => {
    if (isAnswering(partId)) return undefined;
    if (hasLink(partId)) return withoutWebRtc();
    return isHeld ? undefined : offline();
  };
  /** Gives waiting offers to idle streams. */
  const match = ({ streams, waiting }: Part): void => {
    for (const offer of waiting) {
      const stream = [...streams].findLast(({ isIdle }) => isIdle);
      if (stream === undefined) return;
      waiting.delete(offer);
      stream.take(offer);
    }
  };
  const leave = (partId: string, part: Part, stream: AnswerStream): void => {
    if (!part.streams.delete(stream) || part.streams.size > 0) return;
    part.reopening = clock.after(reopenMs, () => {
      part.reopening = undefined;
      for (const offer of part.waiting) offer.end(hasLink(partId) ? withoutWebRtc() : offline());
      forgetIfEmpty(partId, part);
    });
  };
  return {
    isAnswering,
    answer(partId) {
      const part = partOf(partId);
      const stream = new AnswerStream(partId);
      part.reopening?.[Symbol.dispose]();
      part.reopening = undefined;
      part.streams.add(stream);
      stream.forMachine.ended.addEventListener('abort', () => leave(partId, part, stream), { once: true });
      if (part.streams.size > maxStreamsOfPart) {
        const [first] = part.streams;
        const oldest = [...part.streams].find(({ isIdle }) => isIdle) ?? first;
        const message = `Answer: part ${partId} opened more than ${maxStreamsOfPart} streams, so the oldest ends`;
        oldest?.end(unavailable(message));
      }
      match(part);
      return stream;
    },
    call(terms) {
      const { partId } = terms;
      const refusal = refusalOf(partId, true);
      if (refusal !== undefined) throw refusal;
      if ((parts.get(partId)?.waiting.size ?? 0) >= maxWaitingOfPart) throw tooManyCallers();
      calls.requireCapacity(terms);
      const part = partOf(partId);
      const closed = (): void => {
        hold[Symbol.dispose]();
        calls.delete(offer);
        part.waiting.delete(offer);
        forgetIfEmpty(partId, part);
      };
      const offer = new Offer(terms, { ended: calls.remember, closed }, clock);
      const hold = clock.after(offlineHoldMs, () => {
        const late = part.waiting.has(offer) ? refusalOf(partId, false) : undefined;
        if (late !== undefined) offer.end(late);
      });
      calls.add(offer);
      part.waiting.add(offer);
      match(part);
      return offer;
    },
    update({ partId, callerId }, request) {
      const found = calls.find(request.uuid);
      if (found?.by.partId !== partId || found.by.callerId !== callerId) throw noActiveOffer(request.uuid);
      found.offer?.updateOfCaller(request);
    },
    get size() {
      return { parts: parts.size, ...calls.size };
    },
  };
}
