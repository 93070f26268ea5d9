/**
 * The output of a command: its result on stdout, messages on stderr.
 *
 * Text: a table or a list of fields; times are local on a terminal, and UTC otherwise. `--json`: one JSON document; `--json=name,id`
 * selects fields. Streams have one JSON object per line.
 */
import { once } from 'node:events';
import { asStarted } from '@platform/base/as-started';
import { type JsonObject, type JsonValue, printable } from '@platform/sdk/cloud';
import { localSeconds, localTime } from './local-time.ts';
import { table } from './table.ts';

export interface OutputStyle {
  /** JSON instead of text; an array selects fields. */
  readonly json: boolean | readonly string[];
  readonly quiet: boolean;
  readonly colours: boolean;
  /** How the user starts the command line, for hints. Default: platform. */
  readonly command?: string;
  /** Columns of the terminal; absent: the output is not a terminal, and nothing is truncated. */
  readonly width?: number | undefined;
}

export interface Output {
  readonly style: OutputStyle;
  /** Rows of a list. @param columns those that a table shows; JSON has all fields */
  rows(rows: readonly JsonObject[], columns: readonly string[]): void;
  /** Like `rows`, but each row has a line for each of the columns: for a few rows with many columns. */
  records(rows: readonly JsonObject[], columns: readonly string[]): void;
  /** One object: a line for each field, or JSON. */
  object(value: JsonObject): void;
  /** A document that is the result itself: the same JSON in every style, except that `--json=` selects fields. */
  document(value: JsonObject): void;
  /** One element of a stream: `text`, or a line of JSON with --json. */
  element(value: JsonObject, text: string): void;
  /** Output of `table`: its cells are already safe, and the colours are ours. */
  drawn(table: string): void;
  /** Text that is the result itself, such as a document; the same in every style. Unsafe characters are escaped as in JSON. */
  raw(text: string): void;
  /**
   * A piece of a result for other programs, such as lines of CSV: unchanged, except that unsafe characters are escaped on a terminal.
   * Resolves once more can be written. @throws the reason of `signal`
   */
  piece(text: string, signal: AbortSignal): Promise<void>;
  /** A message on stderr; omitted with --quiet. */
  note(text: string): void;
  /** A message on stderr, even with --quiet. */
  warn(text: string): void;
}

export function createOutput(
  style: OutputStyle,
  stdout: NodeJS.WritableStream,
  stderr: NodeJS.WritableStream,
  beforeWrite: () => void,
): Output {
  const isTerminal = style.width !== undefined;
  const picked = (value: JsonObject): JsonObject => {
    if (typeof style.json === 'boolean') return value;
    return Object.fromEntries(style.json.map((name) => [name, value[name] ?? null]));
  };
  // `printable` uses JSON escapes, so JSON stays valid and unchanged in meaning.
  const say = (text: string): void => {
    beforeWrite();
    stdout.write(`${text}\n`);
  };
  const tell = (text: string): void => {
    beforeWrite();
    stderr.write(`${printable(asStarted(text, style.command ?? 'platform'))}\n`);
  };
  const json = (value: JsonValue, indent?: number): void => say(printable(JSON.stringify(value, null, indent)));
  const fieldLines = (names: readonly string[], value: JsonObject): string[] => {
    const width = Math.max(...names.map((name) => name.length));
    return names.map((name) => `${name.padEnd(width)}  ${printable(shown(value[name], isTerminal))}`);
  };
  return {
    style,
    records(rows, columns) {
      if (style.json !== false) json(rows.map(picked), 2);
      else say(rows.map((row) => fieldLines(columns, row).join('\n')).join('\n\n'));
    },
    rows(rows, columns) {
      if (style.json !== false) return json(rows.map(picked), 2);
      if (rows.length > 0)
        return say(
          table(
            columns,
            rows.map((row) => columns.map((name) => cell(row[name], isTerminal))),
            style,
          ),
        );
      if (!style.quiet) tell('nothing found');
    },
    object(value) {
      if (style.json !== false) return json(picked(value), 2);
      for (const line of fieldLines(Object.keys(value), value)) say(line);
    },
    document: (value) => json(picked(value), 2),
    element(value, text) {
      if (style.json === false) say(printable(text));
      else json(picked(value));
    },
    drawn: say,
    raw: (text) => say(printable(text)),
    async piece(text, signal) {
      beforeWrite();
      if (stdout.write(style.width === undefined ? text : printable(text.replaceAll('\r\n', '\n')))) return;
      await once(stdout, 'drain', { signal }).catch((caught: unknown) => {
        throw signal.aborted ? signal.reason : caught;
      });
    },
    note: (text) => void (style.quiet || tell(text)),
    warn: tell,
  };
}

function cell(value: JsonValue | undefined, isTerminal: boolean): string | number {
  if (typeof value === 'number') return value;
  return isTerminal && typeof value === 'string' ? localSeconds(value) : shown(value, isTerminal);
}

/** Times are local on a terminal. */
function shown(value: JsonValue | undefined, isTerminal: boolean): string {
  if (value === undefined || value === null) return '-';
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '-';
  if (typeof value === 'object') return JSON.stringify(value);
  return isTerminal ? localTime(String(value)) : String(value);
}
