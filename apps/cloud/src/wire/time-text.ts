/** A time in a message to a person. What a client names as the time may be none that a calendar knows. */
export function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
