/** The data of an upload in an event. */
import { PlatformError } from '@platform/base';
import { type EventData, type EventReading, maxEventBytes } from '../outbox/event.ts';
import type { KeyNode } from '../reading-codec/key-filter.ts';
import { type Document, readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';
import type { ReadUpload } from './read-upload.ts';

/** A reading decoded to a document. */
export interface Found {
  /** Index of the reading in its upload. */
  readonly index: number;
  readonly document: Document;
}

const view = /* @__PURE__ */ new SensorDataView();

/** Scans the reading at an index; returns false if there is none. */
function lookAt({ readings }: ReadUpload, index: number, withTimes = true): boolean {
  if (index < 0 || index >= readings.readingCount) return false;
  view.read(readings.bytes, readings.readingStart(index), readings.readingEnd(index), withTimes);
  if (view.isWhole) return true;
  throw new PlatformError('data_loss', 'expected a SensorData message, found other bytes or a part of one');
}

/** @param only keys to read; default: all @returns undefined if the reading is binary or does not exist */
export function documentOf(upload: ReadUpload, index: number, only?: KeyNode): Found | undefined {
  if (upload.dataType === 'binary' || upload.dataType === 'file') return undefined;
  if (!lookAt(upload, index, false) || view.kind !== 'struct') return undefined;
  return { index, document: readDocument(upload.readings.bytes, view.contentStart, view.contentEnd, only) };
}

/** The first reading that meets the condition, decoded completely. @param keys keys that the condition needs; undefined: all */
export function findReading(
  upload: ReadUpload,
  meets: (document: Document) => boolean,
  keys: KeyNode | undefined,
): Found | undefined {
  for (let index = 0; index < upload.readings.readingCount; index++) {
    const found = documentOf(upload, index, keys);
    if (found && meets(found.document)) return keys === undefined ? found : documentOf(upload, index);
  }
  return undefined;
}

export function dataOf(upload: ReadUpload, found: Found | undefined): EventData {
  const { metadata, fileId, syncedAtMs } = upload;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; lookAt(upload, index); index++) {
    const { receivedMs } = view;
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
    minTimeReceived: new Date(hasTimes ? minMs : syncedAtMs).toISOString(),
    maxTimeReceived: new Date(hasTimes ? maxMs : syncedAtMs).toISOString(),
    ...(found && readingOf(upload, found)),
  };
}

function readingOf(
  upload: ReadUpload,
  { index, document }: Found,
): { reading: EventReading } | { omittedBytes: number } {
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > maxEventBytes) return { omittedBytes: bytes };
  lookAt(upload, index);
  const { receivedMs, requestedMs } = view;
  return { reading: { receivedAt: rfc3339(receivedMs), requestedAt: rfc3339(requestedMs), data: document } };
}

function rfc3339(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Whether all readings of a tabular upload were refused, so that nothing of it was stored. */
export function isEmpty({ dataType, readings }: ReadUpload): boolean {
  return dataType === 'tabular' && readings.readingCount === 0;
}
