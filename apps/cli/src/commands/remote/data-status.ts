/** The status of capture and sync, requested from the machine through the cloud. */
import { errorText, type JsonObject, type JsonValue } from '@platform/sdk/cloud';
import { callMethod, type Machine, machineMethods } from '@platform/sdk/machine';

const totals = [
  ...['captured', 'missed', 'queued', 'waiting_files', 'uploading_files', 'uploaded_readings', 'quarantined_files'],
  ...['discarded_readings', 'failed_attempts', 'oldest_waiting', 'next_attempt'],
] as const;
const ofResource = [
  ...['captured', 'missed', 'queued', 'waiting_files', 'uploaded_readings', 'quarantined_files', 'discarded_readings'],
  ...['failed_attempts', 'oldest_waiting', 'last_error'],
] as const;

export const dataFields: readonly string[] = ['sync', ...totals, 'sync_error'];
export const resourceDataFields: readonly string[] = ['resource', ...ofResource];

const timeoutMs = 5_000;

/** The answer of the data manager to `GetStatus`; undefined if the machine has none. */
export async function askDataStatus(machine: Machine, signal: AbortSignal): Promise<JsonObject | undefined> {
  const method = machineMethods.find(({ name }) => name === 'data_manager.GetStatus');
  const names = await machine.resourceNames();
  const manager = names.find((name) => /^[^:]+:service:data_manager\//.test(name));
  if (method === undefined || manager === undefined) return undefined;
  const resource = manager.slice(manager.indexOf('/') + 1);
  for await (const answer of callMethod(machine, method, [{}], { resource, signal, timeoutMs })) {
    const result = objectOf(objectOf(answer)['result']);
    return result;
  }
  return undefined;
}

/** A row for a part; without values if there is no answer, and with the reason if that is a failure. */
export function dataRow(status: JsonObject | undefined, failure?: unknown): JsonObject {
  const row: Record<string, JsonValue> = { sync: status?.['state'] ?? null };
  for (const field of totals) row[field] = status?.[field] ?? null;
  row['sync_error'] = failure === undefined ? status?.['last_error'] || null : errorText(failure);
  return row;
}

/** A row for each resource. */
export function resourceRows(status: JsonObject): JsonObject[] {
  return Object.entries(objectOf(status['resources'])).map(([resource, value]) => {
    const found = objectOf(value);
    return { resource, ...Object.fromEntries(ofResource.map((field) => [field, found[field] || null])) };
  });
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
