/** Builds the webhook request of an event, exactly as specified: method, headers and body keys for each trigger type (D21, D22). */
import { type EventData, type EventPlace, maxEventBytes, type TriggerEvent } from '../event.ts';

export interface WebhookRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for GET. */
  readonly body: string;
}

export function webhookRequest(event: TriggerEvent): WebhookRequest {
  const { type, place, data } = event;
  if (type === 'part_online' || type === 'part_offline') {
    return { method: 'GET', headers: { ...idHeaders(place), ...nameHeaders(place) }, body: '' };
  }
  const keys =
    data === undefined ? {} : type === 'part_data_ingested' ? dataSyncKeys(place, data) : conditionKeys(event, data);
  const headers = { ...idHeaders(place), 'Content-Type': 'application/json' };
  return { method: 'POST', headers, body: bodyOf(keys, data) };
}

function idHeaders(place: EventPlace): Record<string, string> {
  return {
    'Org-Id': headerText(place.organizationId),
    'Location-Id': headerText(place.locationId),
    'Part-Id': headerText(place.partId),
    'Robot-Id': headerText(place.robotId),
  };
}

function nameHeaders(place: EventPlace): Record<string, string> {
  return {
    'Organization-Name': headerText(place.organizationName),
    'Location-Name': headerText(place.locationName),
    'Machine-Name': headerText(place.robotName),
  };
}

function dataSyncKeys(place: EventPlace, data: EventData): Record<string, unknown> {
  return {
    component_name: data.componentName,
    component_type: data.componentType,
    method_name: data.methodName,
    min_time_received: data.minTimeReceived,
    max_time_received: data.maxTimeReceived,
    machine_name: place.robotName,
    location_name: place.locationName,
    org_name: place.organizationName,
    file_id: data.fileId,
  };
}

function conditionKeys(event: TriggerEvent, data: EventData): Record<string, unknown> {
  return {
    component_name: data.componentName,
    component_type: data.componentType,
    method_name: data.methodName,
    machine_name: event.place.robotName,
    location_name: event.place.locationName,
    org_name: event.place.organizationName,
    trigger_condition: event.condition,
  };
}

function bodyOf(keys: Record<string, unknown>, data: EventData | undefined): string {
  const reading = data?.reading;
  if (reading === undefined) {
    return JSON.stringify(data?.omittedBytes ? { ...keys, data_omitted: omitted(data.omittedBytes) } : keys);
  }
  const shown = {
    metadata: { received_at: reading.receivedAt, requested_at: reading.requestedAt },
    data: reading.data,
  };
  const whole = JSON.stringify({ ...keys, data: shown });
  const bytes = Buffer.byteLength(whole);
  return bytes <= maxEventBytes ? whole : JSON.stringify({ ...keys, data_omitted: omitted(bytes) });
}

function omitted(bytes: number): string {
  return `data left out: with it, the body would have ${bytes} bytes, but the limit is ${maxEventBytes}`;
}

/** UTF-8 bytes in the form of a header value; control characters, which headers cannot contain, become spaces. */
function headerText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must go.
  return Buffer.from(text.replace(/[\u0000-\u001f\u007f]/g, ' '), 'utf8').toString('latin1');
}
