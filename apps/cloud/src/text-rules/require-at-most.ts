/** Limits how many items, or how much data, a request may contain. */
import { invalidArgument, resourceExhausted } from '@platform/base';

/** @param unit what is counted, such as ` ids`. @throws invalid_argument */
export function requireAtMost(what: string, max: number, found: number, unit = ''): void {
  if (found <= max) return;
  throw invalidArgument(`${what}: expected at most ${max}${unit}, found ${found}`);
}

/** Like `requireAtMost`, but also requires at least one. */
export function requireSome(what: string, max: number, found: number, unit: string): void {
  if (found > 0 && found <= max) return;
  throw invalidArgument(`${what}: expected 1 to ${max}${unit}, found ${found || 'none'}`);
}

/** Checks that one more may be added. @param found the current number @param advice the alternative @throws resource_exhausted */
export function requireCapacity(what: string, max: number, found: number, unit: string, advice: string): void {
  if (found < max) return;
  throw resourceExhausted(`${what}: expected at most ${max}${unit}, found ${found}; ${advice}`);
}
