const maxChars = 80;

/** A found value for a message: as JSON, at most 80 characters; what is missing is "nothing". */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON would tell 1e999 as null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
