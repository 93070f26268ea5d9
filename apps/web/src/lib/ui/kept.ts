/**
 * What was typed survives a reload, and signing in again in the same tab: it stands in the storage of the tab, which ends with it. It may be
 * confidential, so it is not kept any longer.
 */
import type { JsonValue } from '@bufbuild/protobuf';

/** Undefined: nothing is kept. Others may have written anything. */
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
