import type { LoopbackRule } from '../webhook/loopback-target.ts';

/** Nothing on loopback is allowed. */
export const noLoopback: LoopbackRule = { isOwnPort: () => false, allows: () => false };
