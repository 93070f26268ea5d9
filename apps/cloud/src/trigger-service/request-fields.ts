/** Reads fields that several requests of TriggerService share. */
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument, type PlatformError } from '@platform/base';

/** @param path of the field. @returns invalid_argument */
export function refused(operation: string, path: string, expected: string, found: string): PlatformError {
  return invalidArgument(`${operation}: ${path}: expected ${expected}, found ${found}`);
}

/** A caller's text, for an error text. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

export function badPageToken(operation: string, text: string): PlatformError {
  return refused(operation, 'page_token', 'the page token of an earlier answer', quoted(text));
}

/**
 * Our names for the values of an enumeration.
 *
 * @param path of the list.
 * @param known each name and its value.
 * @param schema the generated one; its first value means none
 * @throws invalid_argument for a value without a name
 */
export function namesOf<Name extends string, Value extends number>(
  operation: string,
  path: string,
  values: readonly Value[],
  known: Readonly<Record<Name, Value>>,
  schema: { readonly values: readonly { readonly name: string }[] },
): Name[] {
  return values.map((value, index) => {
    const found = (Object.keys(known) as Name[]).find((name) => known[name] === value);
    if (found !== undefined) return found;
    const names = schema.values.slice(1).map(({ name }) => name);
    throw refused(operation, `${path}[${index}]`, `one of ${names.join(', ')}`, String(value));
  });
}

export function timeRange({
  start,
  end,
}: {
  readonly start?: Timestamp | undefined;
  readonly end?: Timestamp | undefined;
}): { startMs?: number; endMs?: number } {
  return { ...(start && { startMs: timestampMs(start) }), ...(end && { endMs: timestampMs(end) }) };
}
