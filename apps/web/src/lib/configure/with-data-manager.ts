/** Adds the data manager with the first capture: without it, nothing is captured. Pure. */
import { captureGap, dataManagerEntry, hasDataManager } from '@platform/machine-config/first-configuration';
import type { JsonObject } from '@platform/machine-config/schema';
import { listOf } from './document.ts';

/**
 * The document after an edit.
 * @param isProvided a fragment provides the data manager
 */
export function withDataManager(before: JsonObject, after: JsonObject, isProvided: boolean): JsonObject {
  const isFirst = captureGap(after) === 'no data manager' && captureGap(before) !== 'no data manager';
  // One that is disabled, or was just removed, is missing on purpose: a warning says what to add.
  const isKnown = hasDataManager(before) || hasDataManager(after) || isProvided;
  return isFirst && !isKnown ? { ...after, services: [...listOf(after, 'services'), dataManagerEntry] } : after;
}
