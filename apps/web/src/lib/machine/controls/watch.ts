/** Gives a control the answers of its component; the card provides them. */
import { getContext, setContext } from 'svelte';
import type { Polled } from '../../api/poll.svelte.ts';
import type { Answer } from './controls.ts';

/**
 * Calls a read-only method of the card's component again and again. Call it while the control is being created.
 *
 * @param everyMs default: 1000
 */
export type Watch = (method: string | (() => string), everyMs?: () => number) => Polled<Answer>;

const key = Symbol('watch');

/** Called by the card. */
export function provideWatch(watch: Watch): void {
  setContext(key, watch);
}

export function useWatch(): Watch {
  return getContext(key);
}
