/** Steps that read the clock separately are never further apart than this. */
const toleranceMs = 60_000;

/** Whether the clock has been set back since it gave a remembered time: waiting until it has caught up would mean silence. */
export function wasSetBack(rememberedMs: number, nowMs: number): boolean {
  return rememberedMs > nowMs + toleranceMs;
}
