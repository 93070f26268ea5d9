/** User regular expressions in linear time: RE2 syntax, with look-around only at the two ends of a pattern and no back-references. */

import { RE2JS } from 're2js';
import { QueryError } from '../query-error.ts';
import { leadingContext } from './leading-context.ts';
import { trailingContext } from './trailing-context.ts';
import type { Regex } from './value.ts';

const maxPatternBytes = 32_764;

interface Compiled {
  readonly pattern: RE2JS;
  /** The groups where a match starts and ends; 0 is the match itself. */
  readonly startGroup: number;
  readonly endGroup: number;
  /** Code points that the pattern looks at before the start. */
  readonly behind: number;
}

/** Cached, because the same pattern is tested against every row. */
const cache: Map<string, Compiled> = new Map();
const cacheSize = 256;

/** @throws QueryError 51091 for a pattern that RE2 does not accept, 51108 for an unknown option. */
export function compileRegex(regex: Regex): (text: string) => boolean {
  const { pattern } = compiledOf(regex);
  return (text) => pattern.matcher(text).find();
}

/** Positions count UTF-16 units; a group that took no part is undefined. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

/** The first match at or after a position. @throws QueryError as compileRegex */
export function compileRegexSearch(regex: Regex): (text: string, from: number) => RegexMatch | undefined {
  const { pattern, startGroup, behind, endGroup } = compiledOf(regex);
  return (text, from) => {
    const matcher = pattern.matcher(text);
    if (!matcher.find(before(text, from, behind))) return undefined;
    const groups: (string | undefined)[] = [];
    for (let group = 1; group <= matcher.groupCount(); group++) {
      if (group !== startGroup && group !== endGroup) groups.push(matcher.group(group) ?? undefined);
    }
    return { start: matcher.start(startGroup), end: matcher.end(endGroup), groups };
  };
}

/** The position this many code points before another one, or the start. */
function before(text: string, from: number, codePoints: number): number {
  let at = from;
  for (let left = codePoints; left > 0 && at > 0; left--) {
    at -= at > 1 && text.codePointAt(at - 2)! > 0xffff ? 2 : 1;
  }
  return at;
}

function compiledOf(regex: Regex): Compiled {
  const id = `${regex.options}/${regex.pattern}`;
  let compiled = cache.get(id);
  if (compiled === undefined) {
    compiled = compile(regex);
    if (cache.size >= cacheSize) cache.clear();
    cache.set(id, compiled);
  }
  return compiled;
}

function compile(regex: Regex): Compiled {
  if (regex.pattern.includes('\0') || regex.options.includes('\0')) {
    throw new QueryError('BadValue', 'a regular expression cannot contain a null byte');
  }
  if (regex.pattern.length > maxPatternBytes) {
    throw new QueryError(
      51091,
      `a regular expression can have at most ${maxPatternBytes} characters, found ${regex.pattern.length}`,
    );
  }
  let flags = 0;
  // All texts are UTF-8, so a prefix that requests UTF-8 is dropped.
  let pattern = regex.pattern.replace(/^\(\*UTF8?\)/, '');
  for (const option of regex.options) {
    if (option === 'i') flags |= RE2JS.CASE_INSENSITIVE;
    else if (option === 'm') flags |= RE2JS.MULTILINE;
    else if (option === 's') flags |= RE2JS.DOTALL;
    else if (option === 'x') pattern = withoutComments(pattern);
    else if (option !== 'u') throw new QueryError(51108, `invalid flag in regex options: ${option}`);
  }
  try {
    const leading = leadingContext(pattern);
    const started = leading?.pattern ?? pattern;
    const trailing = trailingContext(started, (flags & RE2JS.MULTILINE) !== 0);
    return {
      pattern: RE2JS.compile(trailing?.pattern ?? started, flags),
      startGroup: leading?.startGroup ?? 0,
      endGroup: trailing?.endGroup ?? 0,
      behind: leading?.length ?? 0,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new QueryError(51091, `the regular expression '${regex.pattern.slice(0, 80)}' is invalid: ${reason}`, {
      hint: 'only a look-ahead at the end (a negative one for plain characters) and a look-behind of fixed length at the start are supported; no back-references',
    });
  }
}

/** Option x: ignores white space and comments outside of classes. */
function withoutComments(pattern: string): string {
  let result = '';
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') {
      result += char + (pattern[++at] ?? '');
      continue;
    }
    if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    if (!inClass && /\s/.test(char)) continue;
    if (!inClass && char === '#') {
      while (at < pattern.length && pattern[at] !== '\n') at++;
      continue;
    }
    result += char;
  }
  return result;
}
