const maxChars = 80;

/** A value for a message: as JSON, at most 80 characters; a missing value is "nothing". */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON would show 1e999 as null. Of a long text, only the beginning is shown.
  const text =
    typeof value === 'number'
      ? String(value)
      : JSON.stringify(typeof value === 'string' ? value.slice(0, maxChars) : value);
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
