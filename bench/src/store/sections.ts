/** The sections of the store's bench; `store.ts` says what each of them measures. */
export const storeSections = ['a', 'b', 'c', 'restart', 'ingest', 'size', 'checksums', 'idle'] as const;
