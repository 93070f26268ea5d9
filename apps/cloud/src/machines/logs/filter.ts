/** Which lines of a log a reader asked for. Pure. */
import type { JsonObject } from '@bufbuild/protobuf';
import { PlatformError, readLogField } from '@platform/base';
import { RE2JS } from 're2js';
import { maxFilterLength } from './limits.ts';
import { detailOf, type Line, levelName } from './line.ts';

export interface LogQuery {
  /** Any of these, in any case and in the spellings of public loggers (`WARNING`); empty: all. */
  readonly levels?: readonly string[];
  /** `error` and what is worse. */
  readonly errorsOnly?: boolean;
  /**
   * Text that message, logger name, stack or a field contains, in any case; or a regular expression between slashes, `/…/`, with
   * `i` behind the second one for any case. Empty: any line. Expressions are RE2's and run in linear time.
   */
  readonly filter?: string;
  /** A logger's name, or that of one above it: `rdk.sync` also means `rdk.sync.upload`. Empty: any. */
  readonly source?: string;
  /** Lines that the cloud wrote, and those that carry the field `user_facing`. */
  readonly userFacingOnly?: boolean;
}

export type LogFilter = (line: Line) => boolean;

const errorLevels: ReadonlySet<string> = new Set(['error', 'dpanic', 'panic', 'fatal', 'critical']);

/** Those of the loggers that machines and public clients have. */
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

/** @throws invalid_argument for an expression that is none, and a level that no logger has */
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

/** A typing error would look like a machine without errors. */
function requireLevel(level: string): string {
  const name = levelName(level);
  if (!levelNames.includes(name)) {
    throw new PlatformError(
      'invalid_argument',
      `levels: expected any of ${levelNames.join(', ')}, found "${level.slice(0, 50)}"`,
    );
  }
  return name;
}

function mentions(line: Line, contains: (text: string) => boolean): boolean {
  if (contains(line.message) || contains(line.logger_name)) return true;
  const { stack, fields } = detailOf(line);
  return (stack !== undefined && contains(stack)) || (fields !== undefined && contains(fieldsText(fields)));
}

/** As one JSON object. */
function fieldsText(fields: readonly JsonObject[]): string {
  return JSON.stringify(Object.fromEntries(fields.flatMap(readLogField)));
}

function textMatcher(filter: string): (text: string) => boolean {
  if (filter.length > maxFilterLength) {
    throw new PlatformError(
      'invalid_argument',
      `filter: expected at most ${maxFilterLength} characters, found ${filter.length}`,
    );
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
    throw new PlatformError(
      'invalid_argument',
      `filter: expected a regular expression of RE2 between slashes, found /${pattern}/: ${reason}`,
      caught,
    );
  }
}
