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
