import type { SessionPort, SharesPort } from '../ports.ts';

/** No session is valid. */
export const noSessions: SessionPort = { personOf: async () => undefined, personWith: async () => undefined };

/** Nothing is shared. */
export const noShares: SharesPort = { sharesTo: () => [] };
