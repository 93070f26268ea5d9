/** Transport limits in one place; `maxMessageBytes` limits messages and bodies. */

/** Maximum size of all request headers together; gRPC clients send up to 60 KiB of metadata. */
export const maxHeaderBytes: number = 64 * 1024;

/**
 * Flow-control window of each stream and each connection. At 20 ms RTT, HTTP/2's default of 65,535 bytes gives 1.9 MB/s, this one 83 MB/s.
 */
export const windowBytes: number = 4 * 1024 * 1024;

/** How much memory one HTTP/2 connection may use before new streams are refused, MB. */
export const maxSessionMemoryMb = 256;

/** Concurrent calls per connection; a client delays further ones. RFC 9113 recommends at least 100. */
export const maxConcurrentStreams = 128;

/** How many requests a client may reset at once, besides 33 in each second; with more, its connection is closed. */
export const maxResets: number = 2 * maxConcurrentStreams;

/** How many HTTP/1.1 requests of one connection may wait for an answer; with more, it is closed. Browsers send one at a time. */
export const maxPipelined = 16;

/** Time from connecting to the end of the head of the first request, TLS included; with more, the connection is cut. */
export const silentMs = 10_000;

/** The same for further requests over HTTP/1.1, from their first line on. */
export const headersTimeoutMs = 20_000;

/**
 * How long an idle HTTP/1.1 connection stays open: a client that pauses for a few seconds must not send into a connection that is closing.
 */
export const idleConnectionMs = 75_000;

/** How long an idle HTTP/2 connection that must end, because too many are open, may take to read what was sent to it. */
export const lingerMs = 10_000;

/** How often the server looks for overdue headers. */
export const headersCheckMs = 5000;

/** In each window of this length a body must deliver `minBodyBytes`, or end, so one that stalls or trickles ends within 30 s (R17). */
export const slowBodyMs = 15_000;

/** 273 B/s: even a slow modem on a shared line sends more. */
export const minBodyBytes = 4096;

/** A connection without traffic is probed after this time, so that vanished peers do not keep theirs forever. */
export const keepAliveMs = 60_000;

/** After a stop is requested, running calls may finish for this long; then they are aborted as UNAVAILABLE … */
export const drainMs = 3000;

/** … and have this long to tell their clients before connections are cut. */
export const abortMs = 2000;

/** Calls in progress on one tunnelled connection: each may leave a whole window unread without delaying the others. */
export const maxTunnelCalls = 64;

/** Flow-control window of each stream of a tunnelled connection, which also bounds what waits to be sent: 5 MB/s at 50 ms RTT. */
export const tunnelWindowBytes: number = 256 * 1024;
