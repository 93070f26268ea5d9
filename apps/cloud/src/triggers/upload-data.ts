/** The data of an upload in an event. */
import type { Steps } from '@platform/base';
import { type EventData, type EventReading, maxEventBytes } from '../outbox/event.ts';
import type { KeyNode } from '../reading-codec/key-filter.ts';
import type { Document } from '../reading-codec/read-document.ts';
import type { UploadInput } from './input.ts';

/** A reading decoded to a document, unless that is too large for an event (D48). */
export interface Found {
  /** Index of the reading in its upload. */
  readonly index: number;
  /** Undefined: as JSON it has `omittedBytes` or more. */
  readonly document?: Document;
  readonly omittedBytes?: number;
}

/** @returns undefined if the reading is binary or does not exist */
export function documentOf({ readings }: UploadInput, index: number): Found | undefined {
  if (index < 0 || index >= readings.count) return undefined;
  const leastBytes = readings.leastJsonBytes?.(index) ?? 0;
  if (leastBytes > maxEventBytes) return { index, omittedBytes: leastBytes };
  const document = readings.document(index);
  return document && { index, document };
}

/** Evaluating one takes about 1 µs, if it is short. */
export const readingsPerStep = 256;

/** The first reading that meets the condition, decoded completely. @param keys keys that the condition needs; undefined: all */
export function* findReading(
  upload: UploadInput,
  meets: (document: Document) => boolean,
  keys: KeyNode | undefined,
): Steps<Found | undefined> {
  const { readings } = upload;
  for (let index = 0; index < readings.count; index++) {
    if (index % readingsPerStep === readingsPerStep - 1) yield;
    const document = readings.document(index, keys);
    if (document && meets(document)) return keys === undefined ? { index, document } : documentOf(upload, index);
  }
  return undefined;
}

export function dataOf(upload: UploadInput, found: Found | undefined): EventData {
  const { metadata, fileId, atMs, readings } = upload;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < readings.count; index++) {
    const { receivedMs } = readings.times(index);
    if (receivedMs === null) continue;
    minMs = Math.min(minMs, receivedMs);
    maxMs = Math.max(maxMs, receivedMs);
  }
  // Files, and readings of clients that send no times, get the upload time.
  const hasTimes = minMs <= maxMs;
  return {
    componentName: metadata.componentName,
    componentType: metadata.componentType,
    methodName: metadata.methodName,
    fileId,
    minTimeReceived: new Date(hasTimes ? minMs : atMs).toISOString(),
    maxTimeReceived: new Date(hasTimes ? maxMs : atMs).toISOString(),
    ...(found && readingOf(upload, found)),
  };
}

function readingOf(
  upload: UploadInput,
  { index, document, omittedBytes }: Found,
): { reading: EventReading } | { omittedBytes: number } {
  if (document === undefined) return { omittedBytes: omittedBytes ?? 0 };
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > maxEventBytes) return { omittedBytes: bytes };
  const { receivedMs, requestedMs } = upload.readings.times(index);
  return { reading: { receivedAt: rfc3339(receivedMs), requestedAt: rfc3339(requestedMs), data: document } };
}

function rfc3339(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Whether all readings of a tabular upload were refused, so that none of it was stored. */
export function isEmpty({ dataType, readings }: UploadInput): boolean {
  return dataType === 'tabular' && readings.count === 0;
}
