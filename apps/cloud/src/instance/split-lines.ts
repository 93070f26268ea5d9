/**
 * Lines of text that arrives in pieces, ended by \n and nothing else: node:readline also ends them at U+2028 and U+2029, which
 * are in JSON as they are.
 */

/** Answers what takes the pieces. What comes after the last \n is no line. */
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
