/**
 * Patterns of `log`: regular expressions (RE2, which runs in linear time) that must match a whole name. Public machine-servers read `*` as
 * any text and a dot as itself; a pattern of plain characters and `*` therefore also matches when it is read that way.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { formatValue } from './format-value.ts';

/** Loaded with the first pattern: it takes 2 MB, and most machines have no patterns. */
let loaded: typeof import('re2js') | undefined;
const re2 = (): typeof import('re2js') => (loaded ??= createRequire(import.meta.url)('re2js'));

export type LogPatternTest = (name: string) => boolean;

const maxPatternLength = 1_000;
/** What public machine-servers accept. */
const plain = /^[\w.:/*-]+$/;

/** The test of a pattern; for an invalid one, what was expected and what was found. */
export function compileLogPattern(pattern: string): LogPatternTest | string {
  if (pattern.length > maxPatternLength)
    return `expected a regular expression of at most ${maxPatternLength} characters, found ${pattern.length}`;
  const { RE2JS, RE2JSException } = re2();
  const readings = plain.test(pattern) ? [pattern.split('*').map(RE2JS.quote).join('.*')] : [];
  try {
    return testOf([RE2JS.compile(pattern), ...readings.map((reading) => RE2JS.compile(reading))]);
  } catch (caught) {
    if (!(caught instanceof RE2JSException)) throw caught;
    if (readings.length > 0) return testOf(readings.map((reading) => RE2JS.compile(reading)));
    return `expected a regular expression (RE2 syntax), found ${formatValue(pattern)} (${caught.message})`;
  }
}

function testOf(patterns: readonly RE2JS[]): LogPatternTest {
  return (name) => patterns.some((pattern) => pattern.matches(name));
}

/** Loggers of modules begin with this and the name of the module. */
export const modulePrefix = 'modules.';

/**
 * The names that a pattern may match for lines of this logger. Lines about a resource match its full name with `core:` or `rdk:`, its name
 * alone, and the name of its logger on public machine-servers.
 *
 * @param resource the full name of the resource that they are about
 */
export function namesOfLogger(
  logger: string,
  resource: string | undefined = resourceOfLogger(logger),
): readonly string[] {
  if (resource === undefined) return [logger, `rdk.${logger}`];
  const publicName = resource.replace(/^core:/, 'rdk:');
  const short = resource.slice(resource.indexOf('/') + 1);
  return [logger, resource, publicName, short, `rdk.resource_manager.${publicName}`];
}

/** The full name in which a logger ends, after the words before it; `core:` for `rdk:`. */
export function resourceOfLogger(logger: string): string | undefined {
  const [, full] = /^[^:/]+\.([^.:/]+:[^:/]+:[^:/]+\/.+)$/s.exec(logger) ?? [];
  return full?.replace(/^rdk:/, 'core:');
}
