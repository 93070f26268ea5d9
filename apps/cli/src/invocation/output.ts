/**
 * What a command says: its result on stdout, everything for people on stderr.
 *
 * Text: a table or a list of fields. `--json`: one JSON document; `--json=name,id` picks fields. Streams are one JSON object
 * a line.
 */
import type { JsonObject, JsonValue } from '@platform/sdk/cloud';
import { printable } from './printable.ts';
import { table } from './table.ts';

export interface OutputStyle {
  /** JSON instead of text; an array picks fields. */
  readonly json: boolean | readonly string[];
  readonly quiet: boolean;
  readonly colours: boolean;
}

export interface Output {
  readonly style: OutputStyle;
  /** Rows of a list. @param columns those that a table shows; JSON has all fields. */
  rows(rows: readonly JsonObject[], columns: readonly string[]): void;
  /** One object: a line for each field, or JSON. */
  object(value: JsonObject): void;
  /** One element of a stream: `text` for people, a line of JSON otherwise. */
  element(value: JsonObject, text: string): void;
  /** Text that is the result itself, such as a document; the same in every style. */
  raw(text: string): void;
  /** For people, on stderr; not with --quiet. */
  note(text: string): void;
  /** For people, on stderr, also with --quiet. */
  warn(text: string): void;
}

export function createOutput(
  style: OutputStyle,
  stdout: NodeJS.WritableStream = process.stdout,
  stderr: NodeJS.WritableStream = process.stderr,
): Output {
  const picked = (value: JsonObject): JsonObject => {
    if (typeof style.json === 'boolean') return value;
    return Object.fromEntries(style.json.map((name) => [name, value[name] ?? null]));
  };
  const say = (text: string): void => void stdout.write(`${text}\n`);
  return {
    style,
    rows(rows, columns) {
      if (style.json !== false) return say(JSON.stringify(rows.map(picked), null, 2));
      if (rows.length > 0)
        return say(
          table(
            columns,
            rows.map((row) => columns.map((name) => shown(row[name]))),
            style.colours,
          ),
        );
      if (!style.quiet) stderr.write('nothing found\n');
    },
    object(value) {
      if (style.json !== false) return say(JSON.stringify(picked(value), null, 2));
      const width = Math.max(...Object.keys(value).map((name) => name.length));
      for (const [name, field] of Object.entries(value)) say(`${name.padEnd(width)}  ${printable(shown(field))}`);
    },
    element(value, text) {
      say(style.json === false ? printable(text) : JSON.stringify(picked(value)));
    },
    raw: say,
    note: (text) => void (style.quiet || stderr.write(`${printable(text)}\n`)),
    warn: (text) => void stderr.write(`${printable(text)}\n`),
  };
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '-';
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
