/** More than steps may be apart that read the clock on their own. */
const toleranceMs = 60_000;

/** Whether a time that was remembered is of a clock that was set back since: waiting until it has caught up would mean silence. */
export function wasSetBack(rememberedMs: number, nowMs: number): boolean {
  return rememberedMs > nowMs + toleranceMs;
}
