/** Limits per file, per request and per answer. */

/** Per file. */
export const maxTags = 500;
export const maxBoxes = 1_000;

/** Characters in a tag or label. */
export const maxLabelLength = 200;

/** Ids, or entries in each list of a filter, in one request. */
export const maxNamed = 1_000;

export const defaultPage = 50;
export const maxPage = 1_000;

/** Tags or labels in one answer. */
export const maxTexts = 10_000;

/** Bytes of files in a page, as public clients accept by default. The first file may be larger. */
export const pageBytes = 4_000_000;

/** Bytes of files in any answer; larger files must be downloaded. */
export const answerBytes = 30_000_000;

/** Files changed or deleted in one transaction. */
export const batchRows = 1_000;
