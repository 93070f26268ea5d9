/** Notices about a query as a header of its answer: a JSON array, percent-encoded. */

/** Headers have little room, and field names may be long. */
const maxChars = 2_000;

/** @returns undefined if no notice fits */
export function noticesHeader(notices: readonly string[]): string | undefined {
  for (let count = notices.length; count > 0; count--) {
    const text = encodeURIComponent(JSON.stringify(notices.slice(0, count)).toWellFormed());
    if (text.length <= maxChars) return text;
  }
  return undefined;
}
