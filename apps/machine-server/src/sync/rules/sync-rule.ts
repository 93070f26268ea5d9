/** Says why nothing may be sent now; undefined: it may. */
export type SyncRule = () => Promise<string | undefined>;
