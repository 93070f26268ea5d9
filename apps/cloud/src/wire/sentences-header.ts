/** Sends sentences in a header when the answer has no field for them: a percent-encoded JSON array. */

/**
 * The last sentences are omitted if the header would be longer than `maxChars`: headers have little room, and field names may be long.
 * @returns undefined if no sentence fits
 */
export function sentencesHeader(sentences: readonly string[], maxChars: number): string | undefined {
  for (let count = sentences.length; count > 0; count--) {
    const text = encodeURIComponent(JSON.stringify(sentences.slice(0, count)).toWellFormed());
    if (text.length <= maxChars) return text;
  }
  return undefined;
}
