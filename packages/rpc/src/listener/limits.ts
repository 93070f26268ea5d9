/** Transport limits, in one place; messages and bodies have `maxMessageBytes`. */

/** Of all request headers together; gRPC clients send up to 60 KiB of metadata. */
export const maxHeaderBytes: number = 64 * 1024;

/** Flow-control window of each stream and each connection: 65,535 bytes, HTTP/2's default, gives 1.9 MB/s at 20 ms RTT, this 83 MB/s. */
export const windowBytes: number = 4 * 1024 * 1024;

/** What one HTTP/2 connection may hold in memory before new streams are refused, MB. */
export const maxSessionMemoryMb = 256;

/** Concurrent calls of one connection; a client waits with further ones. */
export const maxConcurrentStreams = 1024;

/** From connecting to a recognisable first line (plaintext) or a finished handshake (TLS). */
export const prefaceTimeoutMs = 10_000;

/** From the first line to the end of an HTTP/1.1 request's headers. */
export const headersTimeoutMs = 20_000;

/** An HTTP/1.1 connection stays for the next request for so long: a client that is busy for a few seconds does not send into one that is being closed. */
export const idleConnectionMs = 75_000;

/** How often overdue headers are looked for. */
export const headersCheckMs = 5000;

/** A body must bring `minBodyBytes`, or its end, in each such window, so one that stalls or trickles ends within 30 s (R17). */
export const slowBodyMs = 15_000;

/** 273 B/s: a slow modem that shares its line sends more. */
export const minBodyBytes = 4096;

/** A connection without traffic is probed after so long, so that vanished peers do not keep theirs forever. */
export const keepAliveMs = 60_000;

/** Running calls may finish for so long after a stop was asked for; then they are aborted as UNAVAILABLE … */
export const drainMs = 3000;

/** … and have so long to tell their clients before connections are cut. */
export const abortMs = 2000;
