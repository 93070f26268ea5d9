/**
 * Keeps what was typed across a reload, or a new sign-in in the same tab. It is in the session storage of the tab, which ends with the tab:
 * it may be confidential, so it is not kept any longer.
 */
import type { JsonValue } from '@bufbuild/protobuf';

/** Undefined: nothing is kept. The value may come from anywhere. */
export function readKept(key: string): JsonValue | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param value undefined forgets it; a storage that is full or forbidden keeps nothing */
export function keep(key: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The page itself still has it.
  }
}
