/**
 * Splits text that arrives in pieces into lines, only at \n: node:readline also splits at U+2028 and U+2029, which JSON may contain
 * unescaped.
 */

/** Returns a function that takes the pieces. Text after the last \n is not a line. */
export function splitLines(onLine: (line: string) => void): (text: string) => void {
  let begun: string[] = [];
  return (text) => {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      begun.push(text.slice(from, end));
      const line = begun.join('');
      begun = [];
      from = end + 1;
      onLine(line);
    }
    if (from < text.length) begun.push(text.slice(from));
  };
}
