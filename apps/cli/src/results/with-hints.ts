/** Messages of the cloud in tables: what they tell the user to run works as it stands. */
import { asStarted } from '@platform/base/as-started';
import type { JsonObject, JsonValue } from '@platform/sdk/cloud';
import type { Output } from './output.ts';

/** Fields that have sentences of the cloud; others have what people or machines wrote, which stays as it is. */
const messageFields: ReadonlySet<string> = new Set(
  'problem message reason answer error response waits_because'.split(' '),
);

/** The row with hints for this command line, see `asStarted`; for JSON, the row itself. */
export function withHints({ style }: Pick<Output, 'style'>, row: JsonObject): JsonObject {
  return style.json === false ? (told(row, '', style.command ?? 'platform') as JsonObject) : row;
}

function told(value: JsonValue, field: string, command: string): JsonValue {
  if (typeof value === 'string') return messageFields.has(field) ? asStarted(value, command) : value;
  if (Array.isArray(value)) return value.map((one) => told(one, field, command));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, told(one ?? null, name, command)]));
}
