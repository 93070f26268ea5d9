/** Texts by code points and by UTF-8 bytes; JavaScript counts UTF-16 units. */

/** How many code points there are from one position to another. */
export function countCodePoints(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += unitsAt(text, at)) count++;
  return count;
}

/** The position after this many code points, at most the end. */
export function afterCodePoints(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) at += unitsAt(text, at);
  return Math.min(at, text.length);
}

/** Two for a surrogate pair, otherwise one. */
export function unitsAt(text: string, at: number): 1 | 2 {
  const point = text.codePointAt(at);
  return point !== undefined && point > 0xffff ? 2 : 1;
}

/** UTF-8 length of the part up to a position. */
export function utf8Length(text: string, to: number = text.length): number {
  let length = 0;
  for (let at = 0; at < to; at++) {
    const unit = text.charCodeAt(at);
    length += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (unit >= 0xd800 && unit < 0xdc00 && unitsAt(text, at) === 2) {
      length++;
      at++;
    }
  }
  return length;
}
