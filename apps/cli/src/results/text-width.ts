/** How many columns of a terminal a text takes, and where it is broken into lines. */

const combining = /^[\p{M}\u200b-\u200d\ufeff]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;
const plain = /^[ -~]*$/;
/** A word that is too long is broken after one of these, if there is one in its second half. */
const softBreak = /^[/.,:;_?&=-]$/;

/** The number of terminal columns that a text occupies. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

function widthOfOne(character: string): number {
  return combining.test(character) ? 0 : wide.test(character) ? 2 : 1;
}

/** The text in at most `width` columns, with "…" where it was truncated. */
export function cut(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${start(text, width - 1)}…`;
}

/** The text as lines of at most `width` columns, broken at spaces where possible. Only spaces are lost. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (let rest = text; ; ) {
    const fitting = start(rest, width) || String.fromCodePoint(rest.codePointAt(0) ?? 0x20);
    if (fitting.length >= rest.length) return [...lines, rest];
    const at = breakOf(fitting, rest);
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
}

/** The longest start of a text that fits into `width` columns. */
function start(text: string, width: number): string {
  let length = 0;
  let used = 0;
  for (const character of text) {
    used += widthOfOne(character);
    if (used > width) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** Where a line ends that has room for `fitting`, the start of `text`. */
function breakOf(fitting: string, text: string): number {
  if (text[fitting.length] === ' ') return fitting.length;
  const space = fitting.lastIndexOf(' ');
  if (space > 0) return space + 1;
  for (let at = fitting.length - 1; at >= fitting.length / 2; at--) {
    if (softBreak.test(fitting[at] ?? '')) return at + 1;
  }
  return fitting.length;
}
