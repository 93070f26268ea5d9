/**
 * A summary of a request for the audit trail: JSON, cut to 1 KiB. It looks only at the first entries of lists and maps and at the beginning
 * of texts, so that it costs little for any request.
 */
import type { Message } from '@bufbuild/protobuf';

const maxLength = 1_024;
/** Values in all, and entries of one list or map. */
const maxValues = 200;
const maxEntries = 16;
const maxTextLength = 256;

export function summarizeArguments(message: Message): string {
  return cut(JSON.stringify(shortened(message, { values: maxValues })), maxLength);
}

/** @param left counts down the values that may still be looked at */
function shortened(value: unknown, left: { values: number }): unknown {
  left.values -= 1;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return cut(value, maxTextLength);
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((entry) => shortened(entry, left));
  const kept: [string, unknown][] = [];
  for (const key in value) {
    if (kept.length === maxEntries || left.values <= 0) break;
    if (!key.startsWith('$') && Object.hasOwn(value, key))
      kept.push([key, shortened((value as Readonly<Record<string, unknown>>)[key], left)]);
  }
  return Object.fromEntries(kept);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
