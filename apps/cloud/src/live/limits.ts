/** The limits of live connections, each with its reason. */

/** A page needs about four, and one or two for each card of a machine that is in view. */
export const maxSubscriptions = 128;
/** Of one person or key: tabs of several browsers. */
export const maxConnectionsOfCaller = 64;
/** How often rights are checked again (R16: within 5 s, of which the principal cache takes 2). */
export const recheckMs = 2_000;
/** Silence after which a sign of life is sent, so that readers notice a broken connection. */
export const heartbeatMs = 10_000;
/** Between two messages of a connection: what changes faster is sent together. */
export const minIntervalMs = 50;
/** How often the status of a part is compared. */
export const statusEveryMs = 300;
/** How often the machines of an organization are compared, at least … */
export const fleetEveryMs = 1_000;
/** … and this many times longer than the comparison took. */
export const fleetPause = 20;
/** Machines between which other work gets its turn, and machines of one message. */
export const fleetSlice = 500;
export const maxMachinesOfUpdate = 2_000;
/** Online parts have contact all the time: their last contact is sent this coarsely. */
export const contactStepMs = 30_000;
/** Log lines that a reader gets first. */
export const firstLogLines = 500;
/** Rows of the ingest log that are looked at for the first readings of a part, newest first. */
export const firstReadingsRows = 4_096;
/** A reader of readings that is further behind skips. */
export const maxRowsBehind = 4_096;
/** Series of a part whose newest readings wait for a slow reader. */
export const maxSeries = 500;
/** Between the answer to a repeated call and the next call. */
export const fastestCallMs = 200;
export const defaultCallMs = 1_000;
export const slowestCallMs = 60_000;
/** … at least, after a call that failed. */
export const failedCallMs = 2_000;
