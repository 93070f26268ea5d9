/** Below this, a view of the bytes costs more than copying them one by one. */
const shortBytes = 64;

/** Copies bytes[start..end) to `to` from `at` on; returns where the copy ends. */
export function copyRange(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  if (end - start > shortBytes) to.set(bytes.subarray(start, end), at);
  else for (let index = start, target = at; index < end; index++) to[target++] = bytes[index] as number;
  return at + end - start;
}
