/** How far the newest saved configuration has come: saved → fetched → applied. */
import type { GetPartStatusResponse } from '@platform/proto/platform/fleet/v1/fleet';

export const stepNames = ['saved', 'fetched', 'applied'] as const;

export interface AppliedStep {
  readonly name: (typeof stepNames)[number];
  /** `failed`: the machine runs this revision, or tries to, and reports an error. */
  readonly state: 'done' | 'open' | 'failed';
}

type Status = Pick<
  GetPartStatusResponse,
  'saved' | 'fetched' | 'applied' | 'held' | 'heldReason' | 'lastError' | 'savedVersion'
>;

/** @param newest the newest version that the page knows to be saved: the status of an older version says nothing about it */
export function stepsOf(status: Status, newest = 0n): readonly AppliedStep[] {
  const { saved, fetched, applied, lastError, savedVersion } = status;
  const wanted = saved?.revision ?? '';
  const reached = (at: { revision: string } | undefined): boolean => wanted !== '' && at?.revision === wanted;
  const isKnown = newest <= savedVersion;
  const isFetched = isKnown && (reached(fetched) || reached(applied));
  const ends = isFetched && lastError !== '' && status.held === undefined ? 'failed' : 'open';
  return [
    { name: 'saved', state: !isKnown || wanted !== '' ? 'done' : 'open' },
    { name: 'fetched', state: isFetched ? 'done' : 'open' },
    { name: 'applied', state: isFetched && reached(applied) && lastError === '' ? 'done' : ends },
  ];
}

/** What waits or fails and why, in one sentence; empty: nothing. */
export function waitingFor(status: Status, newest = 0n): string {
  if (newest > status.savedVersion) return '';
  const version = `Version ${status.savedVersion}`;
  if (status.held !== undefined)
    return `${version} waits for the maintenance window${status.heldReason ? `: ${status.heldReason}` : ''}.`;
  const [, fetched, applied] = stepsOf(status);
  if (applied?.state === 'done' || status.saved === undefined || status.savedVersion === 0n) return '';
  if (status.lastError !== '')
    return status.applied?.revision === status.saved.revision
      ? `${version} is applied with problems: ${status.lastError}`
      : `${version} could not be applied: ${status.lastError}`;
  return fetched?.state === 'done'
    ? 'The machine is applying it.'
    : 'The machine has not fetched it yet; it asks every 15 seconds while it is online.';
}
