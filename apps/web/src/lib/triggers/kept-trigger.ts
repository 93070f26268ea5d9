/** The draft of a trigger that was left without saving. */
import { objectOf } from '../api/object-of.ts';
import { keep, readKept } from '../ui/kept.ts';

export interface KeptTrigger {
  readonly text: string;
  /** For a new trigger: the chosen machine, and its part. */
  readonly machineId: string;
  readonly partId: string;
}

/** @param partId empty for a new trigger @param name empty for a new trigger */
const keyOf = (organizationId: string, partId: string, name: string): string =>
  name === '' ? `trigger of ${organizationId}` : `trigger ${name} of ${partId}`;

export function readTriggerDraft(organizationId: string, partId: string, name: string): KeptTrigger | undefined {
  const { text, machineId, partId: keptPartId } = objectOf(readKept(keyOf(organizationId, partId, name)));
  return typeof text === 'string' && typeof machineId === 'string' && typeof keptPartId === 'string'
    ? { text, machineId, partId: keptPartId }
    : undefined;
}

/** Undefined forgets it. */
export function keepTriggerDraft(
  organizationId: string,
  partId: string,
  name: string,
  draft: KeptTrigger | undefined,
): void {
  keep(keyOf(organizationId, partId, name), draft);
}
