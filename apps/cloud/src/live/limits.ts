/** The limits of live connections, each with its reason. */

/** A page needs about four, and one or two for each visible card of a machine. */
export const maxSubscriptions = 128;
/** Per person or key: tabs of several browsers. */
export const maxConnectionsOfCaller = 64;
/** How often rights are checked again (R16: within 5 s, of which the principal cache takes 2). */
export const recheckMs = 2_000;
/** Silence after which a heartbeat is sent, so that readers notice a broken connection. */
export const heartbeatMs = 10_000;
/** Between two messages of a connection: faster changes are sent together. */
export const minIntervalMs = 50;
/** How often the status of a part is compared. */
export const statusEveryMs = 300;
/** Minimum interval between comparisons of an organization's machines … */
export const fleetEveryMs = 1_000;
/** … which is also at least this many times the duration of the comparison. */
export const fleetPause = 20;
/** Number of machines between yields to other work, and of machines in one message. */
export const fleetSlice = 500;
export const maxMachinesOfUpdate = 2_000;
/** Online parts are always in contact: the time of their last contact is rounded to this step. */
export const contactStepMs = 30_000;
/** Number of log lines that a reader gets first. */
export const firstLogLines = 500;
/** Rows of the ingest log that are searched for the first readings of a part, newest first. */
export const firstReadingsRows = 4_096;
/** A reader of readings that is further behind skips. */
export const maxRowsBehind = 4_096;
/** Series of a part whose newest readings wait for a slow reader. */
export const maxSeries = 500;
/** Minimum interval between the answer to a repeated call and the next call. */
export const fastestCallMs = 200;
export const defaultCallMs = 1_000;
export const slowestCallMs = 60_000;
/** The same after a call that failed. */
export const failedCallMs = 2_000;
/** Of a larger document only the size is sent: decoding and drawing it takes longer than the interval to the next. */
export const shownBytes: number = 64 * 1024;
