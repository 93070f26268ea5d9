/** The limits of machine logs, in one place, each with its reason. */

/** D29: what was stored stays for so long, counted from its arrival, whatever the machine's clock says. */
export const retentionMs: number = 30 * 86_400_000;

/**
 * What one part may log: 167 lines a second without a break, and a minute's worth at once after silence, so that a start with
 * its debug lines passes. 10,000 parts that log like this would be stopped by the disk, one of them is not felt by the others.
 */
export const linesPerMinute = 10_000;
export const bytesPerMinute: number = 5 * 1024 * 1024;

/** What one part may have stored of one UTC day; in 30 days at most 1.9 GiB, so that one machine cannot fill the disk for all. */
export const bytesPerDay: number = 64 * 1024 * 1024;

/** The last tenth of each allowance is for warnings and errors: debug lines do not push out what explains them. */
export const reservedShare = 0.1;

/** Lines that the cloud itself writes into a part's log (failed deliveries, refused readings); they have an allowance of their own. */
export const ownLinesPerMinute = 600;

/** Lines of one part that were left out are told in one line, at most so often. */
export const summaryEveryMs = 60_000;

/** Longer texts are cut: a line is for reading. */
export const maxMessageLength = 16_384;
export const maxStackLength = 16_384;
export const maxNameLength = 256;
/** Structured fields over this are left out whole, because half of a JSON is none. */
export const maxFieldsLength = 16_384;

/** Lines that wait for the disk, of all parts; past it senders are told to come back, and they do. */
export const maxPendingBytes: number = 64 * 1024 * 1024;
/** One commit: large enough to spread the sync, small enough that other writers do not wait. */
export const maxRowsPerCommit = 2_000;

export const defaultPageLines = 100;
export const maxPageLines = 1_000;
/** Public clients refuse answers over 4 MiB. */
export const maxPageBytes: number = 2 * 1024 * 1024;
/** A page that has a line and finds little more ends here, with a token to continue from. */
export const maxScannedRows = 20_000;
export const maxScanMs = 250;
/**
 * Public clients take a page without lines for the end of the log, so a search goes on until it finds one, for so long at most,
 * and for no more than half the caller's deadline. Then the page is empty and has a token.
 */
export const maxSearchMs = 20_000;
/** Rows read at once, and time of matching after which others get their turn. */
export const scanRows = 200;
export const scanSliceMs = 10;

export const maxFilterLength = 1_000;

/** Lines that wait for one reader of a live tail; past it they are counted and left out. */
export const maxTailLines = 1_000;
export const maxTailBytes: number = 1024 * 1024;
/** Lines of one message of a tail. */
export const maxTailBatch = 200;
export const maxTailsPerPart = 50;
/** How often a tail asks whether its reader may still read (R16: within 5 s, of which the principal's cache takes 2). */
export const recheckMs = 2_000;
