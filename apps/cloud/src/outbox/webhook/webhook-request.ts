/** Builds the webhook request of an event, exactly as specified: method, headers and body keys for each trigger type (D21, D22). */
import { type EventData, type EventPlace, maxEventBytes, type TriggerEvent } from '../event.ts';

export interface WebhookRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for GET. */
  readonly body: string;
}

export function webhookRequest(event: TriggerEvent): WebhookRequest {
  const request = requestOf(event);
  return event.isTest ? { ...request, headers: { ...request.headers, Test: 'true' } } : request;
}

function requestOf(event: TriggerEvent): WebhookRequest {
  const { type, place, data } = event;
  if (type === 'part_online' || type === 'part_offline') {
    return { method: 'GET', headers: { ...idHeaders(place), ...nameHeaders(place) }, body: '' };
  }
  const headers = { ...idHeaders(place), 'Content-Type': 'application/json' };
  if (event.logs !== undefined) {
    const { entries, omitted } = event.logs;
    return { method: 'POST', headers: { ...headers, 'Logs-Omitted': String(omitted) }, body: JSON.stringify(entries) };
  }
  const keys = data !== undefined && type === 'part_data_ingested' ? dataSyncKeys(place, data) : conditionKeys(event);
  const test = event.isTest && { test: true };
  return { method: 'POST', headers, body: bodyOf({ ...keys, ...changeKeys(event), ...test }, data) };
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

/** Without data (nothing arrived, or the event is not about data) the keys of the component are omitted. */
function conditionKeys({ place, data, condition }: TriggerEvent): Record<string, unknown> {
  return {
    ...(data && {
      component_name: data.componentName,
      component_type: data.componentType,
      method_name: data.methodName,
    }),
    machine_name: place.robotName,
    location_name: place.locationName,
    org_name: place.organizationName,
    ...(condition !== undefined && { trigger_condition: condition }),
  };
}

/** Platform-specific keys, only for triggers with states. */
function changeKeys({ type, change }: TriggerEvent): Record<string, unknown> {
  if (change === undefined) return {};
  const { to, subject, at, reason } = change;
  return { event_type: type, state: to, changed_at: at, reason, ...(subject !== '' && { subject }) };
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
  return `data left out: with it, the body would have at least ${bytes} bytes, but the limit is ${maxEventBytes}`;
}

/** UTF-8 bytes in the form of a header value; control characters, which headers cannot contain, become spaces. */
function headerText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must go.
  return Buffer.from(text.replace(/[\u0000-\u001f\u007f]/g, ' '), 'utf8').toString('latin1');
}
