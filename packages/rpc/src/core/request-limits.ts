/** What one request may cost, before anything of it is decoded (D48). */
import type { DescMessage } from '@bufbuild/protobuf';
import { invalidArgument, resourceExhausted } from '@platform/base/portable';
import { findJsonExcess } from './json-shape.ts';
import { maxMessageDepth } from './max-message-depth.ts';
import { findExcess } from './wire-shape.ts';

export interface RequestLimits {
  /** Bytes of one message; undefined: the server's own limit. */
  readonly maxRequestBytes: number | undefined;
  /**
   * Fields, entries of lists and maps, and packed numbers in one message, known or not. Decoding takes about 1 µs for each, with what the
   * handler does. JSON counts two for each separator and bracket.
   */
  readonly maxElements: number;
  /** Bytes of one message in JSON, whose decoding costs by the byte. */
  readonly maxJsonBytes: number;
  /** Messages of one stream. */
  readonly maxMessages: number;
}

export const defaultRequestLimits: RequestLimits = {
  maxRequestBytes: undefined,
  maxElements: 100_000,
  // A document of 4 MiB and the rest of its request.
  maxJsonBytes: 4.5 * 1024 * 1024,
  maxMessages: Number.POSITIVE_INFINITY,
};

/** Fields and elements of one answer that a server reads. Only decoding it takes time, so it may have more than a request. */
export const maxAnswerElements = 200_000;

/** At most, for methods that anyone may call without credentials. A long token is the longest that they need. */
export const openRequestLimits: { readonly maxRequestBytes: number; readonly maxMessages: number } = {
  maxRequestBytes: 16 * 1_024,
  maxMessages: 1_000,
};

export interface Encoded {
  readonly bytes: Uint8Array;
  readonly isJson: boolean;
}

/** @param what of which method, such as `/package.Service/Method: … a request message` @throws resource_exhausted, invalid_argument */
export function requireFewElements(what: string, type: DescMessage, { bytes, isJson }: Encoded, max: number): void {
  const excess = isJson ? findJsonExcess(bytes, max) : findExcess(type, bytes, max);
  if (excess === undefined) return;
  const place = `found more in ${JSON.stringify(excess.where)}`;
  if (excess.of === 'levels') throw invalidArgument(`${what}: expected at most ${maxMessageDepth} levels, ${place}`);
  throw resourceExhausted(
    `${what}: expected at most ${max} fields and elements in a message, ${place}: use smaller messages`,
  );
}
