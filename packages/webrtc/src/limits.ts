/** Bounds of a peer, the same for every engine. */

/** One message of a channel, in either direction. */
export const maxMessageBytes: number = 64 << 10;
/** The longest SDP that is read. */
export const maxSdpBytes: number = 64 << 10;
/** `drained` resolves below this many bytes. */
export const drainedBytes: number = 1 << 20;
/** Messages that arrived before `onMessage` was set. */
export const maxKeptBytes: number = 1 << 20;
/** Messages of one peer that wait to be sent, or for a process that does not read them; its peer then ends. */
export const maxWaitingBytes: number = 64 << 20;
/** A peer that has not opened this long after it was made ends. */
export const openWithinMs: number = 20_000;
