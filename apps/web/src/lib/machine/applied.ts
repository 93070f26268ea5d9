/** How far the newest saved configuration has come: saved → fetched → applied. */
import type { GetPartStatusResponse } from '@platform/proto/platform/fleet/v1/fleet';

export interface AppliedStep {
  readonly name: 'saved' | 'fetched' | 'applied';
  readonly done: boolean;
}

type Status = Pick<
  GetPartStatusResponse,
  'saved' | 'fetched' | 'applied' | 'held' | 'heldReason' | 'lastError' | 'savedVersion'
>;

/** @param newest the newest version that the page knows to be saved: the status of an older version says nothing about it */
export function stepsOf({ saved, fetched, applied, savedVersion }: Status, newest = 0n): readonly AppliedStep[] {
  if (newest > savedVersion)
    return [
      { name: 'saved', done: true },
      { name: 'fetched', done: false },
      { name: 'applied', done: false },
    ];
  const wanted = saved?.revision ?? '';
  const reached = (at: { revision: string } | undefined): boolean => wanted !== '' && at?.revision === wanted;
  return [
    { name: 'saved', done: wanted !== '' },
    { name: 'fetched', done: reached(fetched) || reached(applied) },
    { name: 'applied', done: reached(applied) },
  ];
}

/** What waits and why, in one sentence; empty: nothing. */
export function waitingFor(status: Status, newest = 0n): string {
  if (newest > status.savedVersion) return '';
  if (status.held !== undefined)
    return `Version ${status.savedVersion} waits for the maintenance window${status.heldReason ? `: ${status.heldReason}` : ''}.`;
  const [, fetched, applied] = stepsOf(status);
  if (applied?.done || status.saved === undefined || status.savedVersion === 0n) return '';
  if (status.lastError !== '') return `Version ${status.savedVersion} could not be applied: ${status.lastError}`;
  return fetched?.done
    ? 'The machine is applying it.'
    : 'The machine has not fetched it yet; it asks every 15 seconds while it is online.';
}
