import type { OwnActor } from '../access/audit.ts';

/** In the audit trail, for what configurations ask of the platform. */
export const systemActor: OwnActor = { kind: 'platform', name: 'retention' };
