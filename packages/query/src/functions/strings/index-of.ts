/** Searches for a text in linear time, whatever both texts contain. */

/** Up to this length the engine's own search is fast enough in the worst case. */
const shortLength = 64;

/** The position of the first occurrence at or after `from`, in UTF-16 units; -1 if there is none. */
export function indexOf(text: string, sought: string, from: number): number {
  return searcher(sought)(text, from);
}

/** Like indexOf, for searching for the same text repeatedly. */
export function searcher(sought: string): (text: string, from: number) => number {
  if (sought.length <= shortLength) return (text, from) => text.indexOf(sought, from);
  const borders = bordersOf(sought);
  return (text, from) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && unit !== sought.charCodeAt(matched)) matched = borders[matched - 1]!;
      if (unit === sought.charCodeAt(matched)) matched++;
      if (matched === sought.length) return at - matched + 1;
    }
    return -1;
  };
}

/** For each prefix, the length of its longest shorter prefix that is also a suffix of it. */
function bordersOf(sought: string): Uint32Array {
  const borders = new Uint32Array(sought.length);
  let length = 0;
  for (let at = 1; at < sought.length; at++) {
    while (length > 0 && sought.charCodeAt(at) !== sought.charCodeAt(length)) length = borders[length - 1]!;
    if (sought.charCodeAt(at) === sought.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
