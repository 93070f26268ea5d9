/** Maximum request sizes of the account and fleet services: longer requests are refused before they are decoded. */

const mebibyte = 1024 * 1024;
/** A document of 4 MiB and the rest of its request. */
const documentBytes = 4.5 * mebibyte;
/** Metadata and logos are the largest of the other requests. */
const otherBytes = 1.25 * mebibyte;

const withDocument = new Set(['updateRobotPart', 'createFragment', 'updateFragment', 'validateConfiguration']);

/** @param method its name in the generated code. */
export function maxRequestBytes(method: string): number {
  return withDocument.has(method) ? documentBytes : otherBytes;
}
