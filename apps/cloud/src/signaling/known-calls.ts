/**
 * The calls that are being set up, by their uuid, and for a while those that are over. Everything is bounded: by number, by bytes of session
 * descriptions, and by time, because no call is set up for longer than its deadline.
 */
import { type Clock, resourceExhausted } from '@platform/base';
import type { Offer, OfferTerms } from './offer.ts';

/** Calls to all machines, and to those of one organization. */
const maxCalls = 5_000;
const maxCallsOfOrganization = 1_000;
const mebibyte = 1024 * 1024;
const maxBytes = 64 * mebibyte;
const maxBytesOfOrganization = 16 * mebibyte;
/** Candidates may arrive after the end of their call: they are ignored for this long. */
const lateMs = 10_000;
const maxEnded = 10_000;

export interface KnownCalls {
  /** @throws resource_exhausted if too many calls are being set up */
  requireCapacity(terms: OfferTerms): void;
  add(offer: Offer): void;
  /** Nothing more happens in the call. */
  delete(offer: Offer): void;
  /** The call is over for its caller, who has its uuid. */
  remember(offer: Offer): void;
  /** Who called which part, and the offer unless nothing more happens in it. */
  find(uuid: string): { readonly by: CallKey; readonly offer?: Offer } | undefined;
  readonly size: { readonly calls: number; readonly ended: number };
}

type CallKey = Pick<OfferTerms, 'partId' | 'callerId'>;

interface Load {
  calls: number;
  bytes: number;
}

export function createKnownCalls(clock: Clock): KnownCalls {
  const calls = new Map<string, Offer>();
  const ended = new Map<string, CallKey>();
  const all: Load = { calls: 0, bytes: 0 };
  const loads = new Map<string, Load>();
  const add = ({ organizationId, bytes }: OfferTerms, by: 1 | -1): void => {
    const own = loads.get(organizationId) ?? { calls: 0, bytes: 0 };
    loads.set(organizationId, own);
    for (const load of [all, own]) {
      load.calls += by;
      load.bytes += by * bytes;
    }
    if (own.calls === 0) loads.delete(organizationId);
  };
  return {
    requireCapacity({ organizationId, bytes }) {
      const own = loads.get(organizationId) ?? { calls: 0, bytes: 0 };
      const fits =
        own.calls < maxCallsOfOrganization &&
        own.bytes + bytes <= maxBytesOfOrganization &&
        all.calls < maxCalls &&
        all.bytes + bytes <= maxBytes;
      if (fits) return;
      throw resourceExhausted(
        `Call: expected at most ${maxCallsOfOrganization} calls (${maxBytesOfOrganization / mebibyte} MiB) to machines of an organization, and ${maxCalls} (${maxBytes / mebibyte} MiB) in all, that are being set up; found more: try again later`,
      );
    },
    add(offer) {
      calls.set(offer.uuid, offer);
      add(offer.terms, 1);
    },
    delete(offer) {
      if (calls.delete(offer.uuid)) add(offer.terms, -1);
    },
    remember({ uuid, terms: { partId, callerId } }) {
      const [oldest] = ended.keys();
      if (ended.size >= maxEnded && oldest !== undefined) ended.delete(oldest);
      ended.set(uuid, { partId, callerId });
      clock.after(lateMs, () => ended.delete(uuid));
    },
    find(uuid) {
      const offer = calls.get(uuid);
      if (offer !== undefined) return { by: offer.terms, offer };
      const by = ended.get(uuid);
      return by && { by };
    },
    get size() {
      return { calls: calls.size, ended: ended.size };
    },
  };
}
