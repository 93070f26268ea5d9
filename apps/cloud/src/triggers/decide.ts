/** Which notifications an upload causes: one event for each upload and trigger (D21). Pure. */
import { asPlatformError } from '@platform/base';
import type { Place } from '@platform/proto/platform/ingest/v1/log';
import {
  type EventData,
  type EventPlace,
  type EventReading,
  type Message,
  maxEventBytes,
  type TriggerEvent,
} from '../notify/event.ts';
import { messageId } from '../notify/message-id.ts';
import { readDocument, readTimes } from './read-reading.ts';
import type { OpenedUpload } from './read-upload.ts';
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
  upload: OpenedUpload,
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
    notificationType: 'webhook',
    target: notification.value,
    ...(notification.basicAuth && { basicAuth: notification.basicAuth }),
    event,
    eventAtMs,
  };
}

function eventOf(trigger: Trigger, upload: OpenedUpload, place: EventPlace): TriggerEvent | undefined {
  const { event } = trigger;
  const { readings, dataType } = upload;
  if (event.type === 'part_data_ingested') {
    if (!event.dataTypes.has(dataType)) return undefined;
    // Nothing was stored of a tabular upload whose readings were all refused.
    if (dataType === 'tabular' && readings.length === 0) return undefined;
    return { type: event.type, place, data: dataOf(upload, documentOf(upload, readings.at(-1))) };
  }
  if (event.type === 'conditional_data_ingested') {
    if (!event.isFrom(sourceOf(upload))) return undefined;
    if (dataType === 'tabular' && readings.length === 0) return undefined;
    const found = event.condition ? findReading(upload, event.condition.meets) : documentOf(upload, readings[0]);
    if (event.condition && found === undefined) return undefined;
    return { type: event.type, place, data: dataOf(upload, found), condition: event.configured };
  }
  return undefined;
}

interface Found {
  readonly encoded: Uint8Array;
  readonly document: Readonly<Record<string, unknown>>;
}

function documentOf(upload: OpenedUpload, encoded: Uint8Array | undefined): Found | undefined {
  if (encoded === undefined || upload.dataType === 'binary' || upload.dataType === 'file') return undefined;
  const document = readDocument(encoded);
  return document && { encoded, document };
}

function findReading(
  upload: OpenedUpload,
  meets: (document: Readonly<Record<string, unknown>>) => boolean,
): Found | undefined {
  for (const encoded of upload.readings) {
    const found = documentOf(upload, encoded);
    if (found && meets(found.document)) return found;
  }
  return undefined;
}

function dataOf(upload: OpenedUpload, found: Found | undefined): EventData {
  const { metadata, fileId, readings, syncedAtMs } = upload;
  const received = readings.map((reading) => readTimes(reading).receivedAtMs).filter((ms) => ms !== null);
  // Files, and readings of clients that send no times, were received when they were uploaded.
  const minMs = received.reduce((least, ms) => Math.min(least, ms), received[0] ?? syncedAtMs);
  const maxMs = received.reduce((most, ms) => Math.max(most, ms), received[0] ?? syncedAtMs);
  return {
    componentName: metadata.componentName,
    componentType: metadata.componentType,
    methodName: metadata.methodName,
    fileId,
    minTimeReceived: rfc3339(minMs) ?? new Date(syncedAtMs).toISOString(),
    maxTimeReceived: rfc3339(maxMs) ?? new Date(syncedAtMs).toISOString(),
    ...(found && readingOf(found)),
  };
}

function readingOf({ encoded, document }: Found): { reading: EventReading } | { omittedBytes: number } {
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > maxEventBytes) return { omittedBytes: bytes };
  const { receivedAtMs, requestedAtMs } = readTimes(encoded);
  return { reading: { receivedAt: rfc3339(receivedAtMs), requestedAt: rfc3339(requestedAtMs), data: document } };
}

/** null for no time, and for one that no calendar knows. */
function rfc3339(ms: number | null): string | null {
  return ms === null || Math.abs(ms) > 8.64e15 ? null : new Date(ms).toISOString();
}

function sourceOf({ metadata }: OpenedUpload): UploadSource {
  const { componentType, componentName, methodName } = metadata;
  return { componentType, componentName, methodName };
}

function placeOf(place: Place, partId: string): EventPlace {
  const { organizationId, organizationName, locationId, locationName, robotId, robotName, partName } = place;
  return { organizationId, organizationName, locationId, locationName, robotId, robotName, partId, partName };
}
