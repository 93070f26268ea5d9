/** What a query says that hardly anybody means, for whoever reads the headers of its answer: a JSON array, percent-encoded. */

/** Headers have little room, and fields may have long names. */
const maxChars = 2_000;

/** @returns undefined when there is none that fits */
export function noticesHeader(notices: readonly string[]): string | undefined {
  for (let count = notices.length; count > 0; count--) {
    const text = encodeURIComponent(JSON.stringify(notices.slice(0, count)).toWellFormed());
    if (text.length <= maxChars) return text;
  }
  return undefined;
}
