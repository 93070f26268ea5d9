/** The limits of machine logs, in one place, each with its reason. */

/** D29: how long lines are kept, counted from their arrival, regardless of the machine's clock. */
export const retentionMs: number = 30 * 86_400_000;

/**
 * Allowance of one part: 167 lines a second continuously, or a minute's worth at once after silence, enough for a start with debug lines.
 * 10,000 parts logging this much would be limited by the disk; a single one does not slow down the others.
 */
export const linesPerMinute = 10_000;
export const bytesPerMinute: number = 5 * 1024 * 1024;

/** Maximum bytes that one part may store per UTC day; at most 1.9 GiB in 30 days, so that one machine cannot fill the disk. */
export const bytesPerDay: number = 64 * 1024 * 1024;

/** The last tenth of each allowance is reserved for warnings and errors, so that debug lines cannot displace them. */
export const reservedShare = 0.1;

/** Lines that the cloud itself writes into a part's log (failed deliveries, refused readings); they have their own allowance. */
export const ownLinesPerMinute = 600;

/** Minimum interval between the lines that report how many lines of a part were dropped. */
export const summaryEveryMs = 60_000;

/** Longer texts are truncated. */
export const maxMessageLength = 16_384;
export const maxStackLength = 16_384;
export const maxNameLength = 256;
/** Longer structured fields are dropped whole, because truncated JSON is invalid. */
export const maxFieldsLength = 16_384;

/** Lines of all parts that wait for the disk; beyond this, senders are asked to retry, and they do. */
export const maxPendingBytes: number = 64 * 1024 * 1024;
/** Rows of one commit: large enough to share the cost of its sync, small enough not to delay other writers. */
export const maxRowsPerCommit = 2_000;

export const defaultPageLines = 100;
export const maxPageLines = 1_000;
/** Public clients refuse answers over 4 MiB. */
export const maxPageBytes: number = 2 * 1024 * 1024;
/** A page with at least one line ends after this much scanning, with a token to continue from. */
export const maxScannedRows = 20_000;
export const maxScanMs = 250;
/**
 * Public clients treat a page without lines as the end of the log, so a search continues until it finds a line, for at most this long and
 * at most half of the caller's deadline. Then it returns an empty page with a token.
 */
export const maxSearchMs = 20_000;
/** Number of rows read at once, and the time of matching after which other work may run. */
export const scanRows = 200;
export const scanSliceMs = 10;

export const maxFilterLength = 1_000;

/** Lines buffered for one reader of a live tail; further lines are counted and dropped. */
export const maxTailLines = 1_000;
export const maxTailBytes: number = 1024 * 1024;
/** Maximum number of lines in one message of a tail. */
export const maxTailBatch = 200;
export const maxTailsPerPart = 50;
/** How often a tail checks whether its reader is still authorized (R16: within 5 s, of which the principal cache takes 2). */
export const recheckMs = 2_000;
