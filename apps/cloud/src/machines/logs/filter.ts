/** Selects the lines of a log that a reader requested. Pure. */
import type { JsonObject } from '@bufbuild/protobuf';
import { invalidArgument, readLogField } from '@platform/base';
import { RE2JS } from 're2js';
import { maxFilterLength } from './limits.ts';
import { detailOf, type Line, levelName } from './line.ts';

export interface LogQuery {
  /** Any of these levels, ignoring case and in the spellings of public loggers (`WARNING`); empty: all. */
  readonly levels?: readonly string[];
  /** Only `error` and worse. */
  readonly errorsOnly?: boolean;
  /**
   * Text to find in message, logger name, stack or a field, ignoring case; or a regular expression between slashes, `/…/`, with `i`
   * after the second slash to ignore case. Empty: any line. Expressions use RE2 syntax and run in linear time.
   */
  readonly filter?: string | undefined;
  /** A logger's name, or that of an ancestor: `rdk.sync` also matches `rdk.sync.upload`. Empty: any. */
  readonly source?: string | undefined;
  /** Only lines that the cloud wrote, and those with the field `user_facing`. */
  readonly userFacingOnly?: boolean | undefined;
}

export type LogFilter = (line: Line) => boolean;

const errorLevels: ReadonlySet<string> = new Set(['error', 'dpanic', 'panic', 'fatal', 'critical']);

/** The levels of the loggers in machines and public clients. */
const levelNames: readonly string[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'dpanic',
  'panic',
  'fatal',
  'critical',
];

/** @throws invalid_argument for an invalid expression or an unknown level */
export function createLogFilter(query: LogQuery): LogFilter {
  const { levels = [], errorsOnly = false, filter = '', source = '', userFacingOnly = false } = query;
  const wanted = new Set(levels.filter((level) => level !== '').map(requireLevel));
  const contains = filter === '' ? undefined : textMatcher(filter);
  return (line) =>
    (wanted.size === 0 || wanted.has(line.level)) &&
    (!errorsOnly || errorLevels.has(line.level)) &&
    (source === '' || line.logger_name === source || line.logger_name.startsWith(`${source}.`)) &&
    (!userFacingOnly || detailOf(line).userFacing === true) &&
    (contains === undefined || mentions(line, contains));
}

/** Refuses unknown levels: with a typo, a machine would appear to have no errors. */
function requireLevel(level: string): string {
  const name = levelName(level);
  if (!levelNames.includes(name)) {
    throw invalidArgument(`levels: expected any of ${levelNames.join(', ')}, found "${level.slice(0, 50)}"`);
  }
  return name;
}

function mentions(line: Line, contains: (text: string) => boolean): boolean {
  if (contains(line.message) || contains(line.logger_name)) return true;
  const { stack, fields } = detailOf(line);
  return (stack !== undefined && contains(stack)) || (fields !== undefined && contains(fieldsText(fields)));
}

/** All fields as one JSON object. */
function fieldsText(fields: readonly JsonObject[]): string {
  return JSON.stringify(Object.fromEntries(fields.flatMap(readLogField)));
}

function textMatcher(filter: string): (text: string) => boolean {
  if (filter.length > maxFilterLength) {
    throw invalidArgument(`filter: expected at most ${maxFilterLength} characters, found ${filter.length}`);
  }
  const expression = /^\/(.+)\/(i?)$/s.exec(filter);
  if (expression === null) {
    const lower = filter.toLowerCase();
    return (text) => text.toLowerCase().includes(lower);
  }
  const [, pattern = '', flag] = expression;
  const compiled = compile(pattern, flag === 'i');
  return (text) => compiled.test(text);
}

function compile(pattern: string, anyCase: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, anyCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw invalidArgument(
      `filter: expected a regular expression of RE2 between slashes, found /${pattern}/: ${reason}`,
      caught,
    );
  }
}
