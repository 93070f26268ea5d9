/** The UTC capture day of a reading (D24). */

const dayMs = 86_400_000;
const year2020Ms = /* @__PURE__ */ Date.UTC(2020, 0, 1);

/**
 * Days since 1970: of time_received, or of the upload if the machine's clock is absurd (before 2020, or more than a day ahead) or unknown.
 */
export function captureDay(receivedMs: number | undefined, syncedMs: number): number {
  const absurd = receivedMs === undefined || receivedMs < year2020Ms || receivedMs > syncedMs + dayMs;
  return Math.floor((absurd ? syncedMs : receivedMs) / dayMs);
}

// Cached: it is called for every row, mostly with the same day.
let last = { day: 0, text: '1970-01-01' };

/** "YYYY-MM-DD" of days since 1970. */
export function dayText(day: number): string {
  if (last.day !== day) last = { day, text: new Date(day * dayMs).toISOString().slice(0, 10) };
  return last.text;
}

/** Days since 1970 of "YYYY-MM-DD". */
export function dayNumber(text: string): number {
  if (last.text !== text) last = { day: Math.floor(Date.parse(`${text}T00:00:00Z`) / dayMs), text };
  return last.day;
}
