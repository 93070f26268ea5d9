/** A time for a message to a person. A client may send a time outside the range of dates. */
export function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
