/** How large the requests of the account and fleet services may be: what is longer is refused before it is decoded. */

const mebibyte = 1024 * 1024;
/** A document of 4 MiB, and what is around it. */
const documentBytes = 4.5 * mebibyte;
/** Metadata and logos are the largest of the rest. */
const otherBytes = 1.25 * mebibyte;

const withDocument = new Set(['updateRobotPart', 'createFragment', 'updateFragment', 'validateConfiguration']);

/** @param method by its name in the generated code. */
export function maxRequestBytes(method: string): number {
  return withDocument.has(method) ? documentBytes : otherBytes;
}
