/** The text of a configuration, decoded. What is in it is for `check` to judge. */
import { PlatformError } from '@platform/base';
import { requireReadableJson } from '../wire/readable-json.ts';

/** Documents over this are refused: a configuration is read whole by every machine at every change. */
const maxDocumentBytes = 4 * 1024 * 1024;

/** @throws invalid_argument for text that is too long, no JSON, or holds what clients cannot read back. */
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
  requireReadableJson(parsed, 'configuration');
  return parsed;
}
