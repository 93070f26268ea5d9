import type { SessionPort, SharesPort } from '../ports.ts';

/** No one is signed in. */
export const noSessions: SessionPort = { personOf: async () => undefined };

/** Nothing is shared. */
export const noShares: SharesPort = { sharesTo: () => [] };
