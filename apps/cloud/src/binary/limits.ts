/** How much of everything: of one file, of one request, of one answer. */

/** Of one file. */
export const maxTags = 500;
export const maxBoxes = 1_000;

/** Characters. */
export const maxLabelLength = 200;

/** Ids, and entries of each list of a filter, in one request. */
export const maxNamed = 1_000;

export const defaultPage = 50;
export const maxPage = 1_000;

/** Tags or labels in one answer. */
export const maxTexts = 10_000;

/** Bytes of files in a page: what public clients take without being told otherwise. The first file may be longer. */
export const pageBytes = 4_000_000;

/** Bytes of files in any one answer; beyond it they are downloaded. */
export const answerBytes = 30_000_000;

/** Files that are changed or deleted in one transaction. */
export const batchRows = 1_000;
