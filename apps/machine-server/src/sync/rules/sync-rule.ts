/** Returns why nothing may be sent now; undefined if sending is allowed. */
export type SyncRule = () => Promise<string | undefined>;
