/** Counts what a JSON text would become when parsed, without parsing it (D48). */
import { maxMessageDepth } from './max-message-depth.ts';
import type { Excess } from './wire-shape.ts';

/** A separator or bracket costs as much as two fields of an encoded message: `"a": 1,` is four of them. */
const elementsOfMark = 2;
/** Of a name in an error message. */
const maxNameLength = 80;

/**
 * Finds out whether a JSON text has more elements or levels than allowed. Its length is limited elsewhere.
 *
 * @returns the member of the outermost object in which a limit was crossed; undefined: none was
 */
export function findJsonExcess(text: Uint8Array, maxElements: number): Excess | undefined {
  const maxMarks = maxElements / elementsOfMark;
  if (text.length <= maxMarks) return undefined;
  let marks = 0;
  let depth = 0;
  /** Of the last text, which is a name if a colon follows, and of the last name in the outermost object. */
  let [from, to, nameFrom, nameTo] = [0, 0, 0, 0];
  const excess = (of: Excess['of']): Excess => ({
    of,
    where: new TextDecoder().decode(text.subarray(nameFrom, Math.min(nameTo, nameFrom + maxNameLength))),
  });
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case 0x22: // "
        from = at + 1;
        for (at++; at < text.length && text[at] !== 0x22; at++) if (text[at] === 0x5c) at++;
        to = at;
        continue;
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > maxMessageDepth) return excess('levels');
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        continue;
      case 0x3a: // :
        if (depth === 1) [nameFrom, nameTo] = [from, to];
        break;
      case 0x2c: // ,
        break;
      default:
        continue;
    }
    if (++marks > maxMarks) return excess('elements');
  }
  return undefined;
}
