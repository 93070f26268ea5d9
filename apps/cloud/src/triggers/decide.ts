/** Which notifications an upload causes: one event for each upload and trigger (D21). Pure. */
import { asPlatformError, PlatformError } from '@platform/base';
import type { Place } from '@platform/proto/platform/ingest/v1/log';
import {
  type EventData,
  type EventPlace,
  type EventReading,
  type Message,
  maxEventBytes,
  type TriggerEvent,
} from '../outbox/event.ts';
import { messageId } from '../outbox/message-id.ts';
import { type Document, readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';
import type { ReadUpload } from './read-upload.ts';

import { notificationKey, type ThrottleKey } from './throttle.ts';
import type { Notification, Trigger, UploadSource } from './trigger.ts';

export interface Decision {
  readonly messages: readonly Message[];
  /** What goes out, for the throttle. */
  readonly notified: readonly ThrottleKey[];
  /** Triggers that could not be evaluated on this upload. */
  readonly damaged: readonly { readonly triggerName: string; readonly reason: string }[];
}

/** @param isThrottled whether the notification must keep silent at the time of this event. */
export function decide(
  row: { readonly position: number; readonly partId: string },
  upload: ReadUpload,
  triggers: readonly Trigger[],
  isThrottled: (key: ThrottleKey, intervalMs: number) => boolean,
): Decision {
  const decision = {
    messages: [] as Message[],
    notified: [] as ThrottleKey[],
    damaged: [] as { triggerName: string; reason: string }[],
  };
  const { partId, position } = row;
  const place = placeOf(upload.place, partId);
  for (const trigger of triggers) {
    const due = trigger.notifications
      .filter(({ type }) => type === 'webhook')
      .map((notification) => ({
        notification,
        key: { partId, triggerName: trigger.name, notification: notificationKey(notification) },
      }))
      .filter(({ notification, key }) => !isThrottled(key, notification.intervalMs));
    if (due.length === 0) continue;
    try {
      const event = eventOf(trigger, upload, place);
      if (event === undefined) continue;
      for (const { notification, key } of due) {
        decision.messages.push(messageOf(trigger, notification, event, key, position, upload.syncedAtMs));
        if (notification.intervalMs > 0) decision.notified.push(key);
      }
    } catch (caught) {
      decision.damaged.push({ triggerName: trigger.name, reason: asPlatformError(caught).message });
    }
  }
  return decision;
}

function messageOf(
  trigger: Trigger,
  notification: Notification,
  event: TriggerEvent,
  key: ThrottleKey,
  position: number,
  eventAtMs: number,
): Message {
  return {
    id: messageId([key.partId, trigger.name, key.notification, position]),
    triggerName: trigger.name,
    channel: 'webhook',
    target: notification.value,
    ...(notification.basicAuth && { basicAuth: notification.basicAuth }),
    event,
    eventAtMs,
  };
}

function eventOf(trigger: Trigger, upload: ReadUpload, place: EventPlace): TriggerEvent | undefined {
  const { event } = trigger;
  const { readings, dataType } = upload;
  if (event.type === 'part_data_ingested') {
    if (!event.dataTypes.has(dataType)) return undefined;
    // Nothing was stored of a tabular upload whose readings were all refused.
    if (dataType === 'tabular' && readings.readingCount === 0) return undefined;
    return { type: event.type, place, data: dataOf(upload, documentOf(upload, readings.readingCount - 1)) };
  }
  if (event.type === 'conditional_data_ingested') {
    if (!event.isFrom(sourceOf(upload))) return undefined;
    if (dataType === 'tabular' && readings.readingCount === 0) return undefined;
    const found = event.condition ? findReading(upload, event.condition.meets) : documentOf(upload, 0);
    if (event.condition && found === undefined) return undefined;
    return { type: event.type, place, data: dataOf(upload, found), condition: event.configured };
  }
  return undefined;
}

interface Found {
  /** Of the reading in its upload. */
  readonly index: number;
  readonly document: Document;
}

const view = /* @__PURE__ */ new SensorDataView();

/** The reading of that index; answers false where there is none. */
function lookAt({ readings }: ReadUpload, index: number): boolean {
  if (index < 0 || index >= readings.readingCount) return false;
  view.read(readings.bytes, readings.readingStart(index), readings.readingEnd(index));
  if (view.isWhole) return true;
  throw new PlatformError('data_loss', 'expected a SensorData message, found other bytes or a part of one');
}

/** Undefined: bytes instead of a document, or no such reading. */
function documentOf(upload: ReadUpload, index: number): Found | undefined {
  if (upload.dataType === 'binary' || upload.dataType === 'file') return undefined;
  if (!lookAt(upload, index) || view.kind !== 'struct') return undefined;
  return { index, document: readDocument(upload.readings.bytes, view.contentStart, view.contentEnd) };
}

function findReading(upload: ReadUpload, meets: (document: Document) => boolean): Found | undefined {
  for (let index = 0; index < upload.readings.readingCount; index++) {
    const found = documentOf(upload, index);
    if (found && meets(found.document)) return found;
  }
  return undefined;
}

function dataOf(upload: ReadUpload, found: Found | undefined): EventData {
  const { metadata, fileId, syncedAtMs } = upload;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; lookAt(upload, index); index++) {
    const { receivedMs } = view;
    if (receivedMs === null) continue;
    minMs = Math.min(minMs, receivedMs);
    maxMs = Math.max(maxMs, receivedMs);
  }
  // Files, and readings of clients that send no times, were received when they were uploaded.
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

function sourceOf({ metadata }: ReadUpload): UploadSource {
  const { componentType, componentName, methodName } = metadata;
  return { componentType, componentName, methodName };
}

function placeOf(place: Place, partId: string): EventPlace {
  const { organizationId, organizationName, locationId, locationName, robotId, robotName, partName } = place;
  return { organizationId, organizationName, locationId, locationName, robotId, robotName, partId, partName };
}
