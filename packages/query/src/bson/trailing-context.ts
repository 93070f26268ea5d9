/**
 * Features at the end of a pattern that Perl's regular expressions have and RE2 does not: a look-ahead, a negative one for a sequence of
 * characters, and `$` before a last line break. A match of `head(?=tail)` is what `head()tail` matches up to the empty group, still in
 * linear time.
 */

import { endOfClass } from './leading-context.ts';

export interface TrailingContext {
  /** The pattern for RE2. */
  readonly pattern: string;
  /** The number of the empty group, where the match ends. */
  readonly endGroup: number;
}

/** Undefined if a pattern has no such end; RE2 then gets it unchanged. @param multiline `$` is the end of each line. */
export function trailingContext(pattern: string, multiline: boolean): TrailingContext | undefined {
  const scanned = scan(pattern);
  if (scanned.alternatives || /\(\?[a-zA-Z]*m/.test(pattern)) return undefined;
  const { lookAhead, groups, dollar } = scanned;
  if (lookAhead !== undefined) {
    const [head, inner] = [pattern.slice(0, lookAhead.start), pattern.slice(lookAhead.start + 3, -1)];
    const tail = pattern.startsWith('(?!', lookAhead.start) ? other(inner) : inner;
    return tail === undefined ? undefined : { pattern: `${head}()(?:${tail})`, endGroup: lookAhead.groups + 1 };
  }
  if (!dollar || multiline) return undefined;
  return { pattern: `${pattern.slice(0, -1)}()(?:\\n?\\z)`, endGroup: groups + 1 };
}

/**
 * A pattern for a text that does not continue with these characters, classes and escapes; undefined if the sequence holds anything else.
 */
function other(sequence: string): string | undefined {
  const atoms = sequence.match(/\\[dDsSwW\W]|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\[])*\]|[^\\[\](){}|*+?.^$]/gsu) ?? [];
  if (atoms.length === 0 || atoms.join('') !== sequence) return undefined;
  return atoms.reduceRight((rest, atom) => {
    const against = atom.startsWith('[^')
      ? `[${atom.slice(2)}`
      : `[^${atom.startsWith('[') ? atom.slice(1) : `${atom}]`}`;
    return `(?:\\z|${against}${rest === '' ? '' : `|${atom}${rest}`})`;
  }, '');
}

interface Scanned {
  /** There is a `|` outside groups. */
  readonly alternatives: boolean;
  readonly groups: number;
  /** A look-ahead that reaches the end, and the number of groups before it. */
  readonly lookAhead: { readonly start: number; readonly groups: number } | undefined;
  /** The last character is a `$` outside groups. */
  readonly dollar: boolean;
}

function scan(pattern: string): Scanned {
  let alternatives = false;
  let groups = 0;
  let depth = 0;
  let opened: { start: number; groups: number } | undefined;
  let lookAhead: { start: number; groups: number } | undefined;
  let dollar = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    const isLast = at === pattern.length - 1;
    if (char === '\\') at++;
    else if (char === '[') at = endOfClass(pattern, at);
    else if (char === '(') {
      if (depth === 0) opened = /^\(\?[=!]/.test(pattern.slice(at, at + 3)) ? { start: at, groups } : undefined;
      if (pattern[at + 1] !== '?' || /^\(\?P?<[^=!]/.test(pattern.slice(at, at + 5))) groups++;
      depth++;
    } else if (char === ')') {
      depth--;
      if (depth === 0 && isLast) lookAhead = opened;
    } else if (char === '|' && depth === 0) alternatives = true;
    else if (char === '$' && depth === 0 && isLast) dollar = true;
  }
  return { alternatives, groups, lookAhead, dollar };
}
