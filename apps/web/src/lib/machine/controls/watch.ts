/** How a control gets what its component answers: the card provides it. */
import { getContext, setContext } from 'svelte';
import type { Polled } from '../../api/poll.svelte.ts';
import type { Answer } from './controls.ts';

/**
 * What the component of the card answers to a method that only reads, again and again; call it while the control is created.
 *
 * @param everyMs default: 1000
 */
export type Watch = (method: string | (() => string), everyMs?: () => number) => Polled<Answer>;

const key = Symbol('watch');

/** By the card. */
export function provideWatch(watch: Watch): void {
  setContext(key, watch);
}

export function useWatch(): Watch {
  return getContext(key);
}
