/** What `--only` of the bench of remote control selects. */
export const remoteParts = ['connections', 'waiting', 'idle'] as const;
