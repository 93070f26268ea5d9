import type { OwnActor } from '../access/audit.ts';

/** The actor in the audit trail for actions that configurations cause. */
export const systemActor: OwnActor = { kind: 'platform', name: 'retention' };
