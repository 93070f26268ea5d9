/** The text of a configuration, decoded. What is in it is for `check` to judge. */
import { PlatformError } from '@platform/base';

/** Documents over this are refused: a configuration is read whole by every machine at every change. */
const maxDocumentBytes = 4 * 1024 * 1024;
const maxDepth = 100;

/** @throws invalid_argument for text that is too long, no JSON, or nested deeper than anything that walks it can bear. */
export function parseDocument(document: string, partId: string): unknown {
  const bytes = Buffer.byteLength(document);
  if (bytes > maxDocumentBytes) {
    throw new PlatformError(
      'invalid_argument',
      `configuration of part ${partId}: expected at most ${maxDocumentBytes} bytes of JSON, found ${bytes}`,
    );
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch (caught) {
    throw new PlatformError(
      'invalid_argument',
      `configuration: expected JSON: ${caught instanceof Error ? caught.message : String(caught)}`,
      caught,
    );
  }
  requireFlat(parsed);
  return parsed;
}

/**
 * Deeper documents would overflow the stack of whoever walks them; no real one comes near.
 *
 * @throws invalid_argument
 */
export function requireFlat(document: unknown): void {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) {
      throw new PlatformError(
        'invalid_argument',
        `configuration: expected at most ${maxDepth} levels of nesting, found more`,
      );
    }
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}
