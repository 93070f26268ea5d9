/**
 * A look-behind at the start of a pattern, which RE2 does not support. A match of `(?<=context)rest` is what `(?:context)()rest` matches
 * from the empty group on. The fixed length of the context tells where the search must start.
 */

export interface LeadingContext {
  /** The pattern for RE2. */
  readonly pattern: string;
  /** The number of the empty group, where the match starts. */
  readonly startGroup: number;
  /** Length of the context in code points. */
  readonly length: number;
}

/** Undefined if a pattern has no such start, or the context has no fixed length. */
export function leadingContext(pattern: string): LeadingContext | undefined {
  if (!pattern.startsWith('(?<=')) return undefined;
  let depth = 0;
  let groups = 0;
  let length = 0;
  for (let at = 4; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '(') {
      if (pattern.startsWith('(?:', at)) at += 2;
      else if (pattern[at + 1] === '?') return undefined;
      else groups++;
      depth++;
    } else if (char === ')') {
      if (depth-- > 0) continue;
      const [context, rest] = [pattern.slice(4, at), pattern.slice(at + 1)];
      // The rest must not quantify the look-behind, nor be an alternative to it.
      if (/^[*+?{]/.test(rest) || hasAlternatives(rest)) return undefined;
      return { pattern: `(?:${context})()${rest}`, startGroup: groups + 1, length };
    } else if (/[|*+?{^$]/.test(char)) return undefined;
    else {
      length++;
      if (char === '[') at = endOfClass(pattern, at);
      else if (char === '\\') {
        if (!/^[dDsSwW\W]/.test(pattern[at + 1] ?? '')) return undefined;
        at++;
      } else if (pattern.codePointAt(at)! > 0xffff) at++;
    }
  }
  return undefined;
}

function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') at++;
    else if (char === '[') at = endOfClass(pattern, at);
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

/** The position where a class `[…]` of a regular expression closes; past the end if it does not. */
export function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern.startsWith('[:', at)) {
      const end = pattern.indexOf(':]', at + 2);
      if (end > 0) at = end + 1;
    }
  }
  return at;
}
