/** Size limits of resources (D24): whole capture days are removed, oldest first, until the rest fits. Pure. */

const bytesPerGb = 1e9;

/**
 * @param today is not over, so its data stays, whatever its size
 * @returns the first day that stays, "YYYY-MM-DD"; undefined if nothing must be removed
 */
export function cutoffDay(bytesByDay: ReadonlyMap<string, number>, limitGb: number, today: string): string | undefined {
  let bytes = [...bytesByDay.values()].reduce((sum, each) => sum + each, 0);
  const days = [...bytesByDay.keys()].toSorted();
  let gone: string | undefined;
  for (const day of days) {
    if (bytes <= limitGb * bytesPerGb || day >= today) break;
    bytes -= bytesByDay.get(day) ?? 0;
    gone = day;
  }
  return gone === undefined ? undefined : dayAfter(gone);
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
