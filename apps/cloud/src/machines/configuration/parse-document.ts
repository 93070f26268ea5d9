/** The text of a configuration, decoded. What is in it is for `check` to judge. */
import type { JsonObject } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { requireReadableJson } from '../../wire/readable-json.ts';
import { answerBytes, structBytes } from '../../wire/struct-bytes.ts';

/** Documents over this are refused: a configuration is read whole by every machine at every change. */
const maxDocumentBytes = 4 * 1024 * 1024;
/** Of text to such an answer: the worst object is a list of digits, 11 bytes for two. */
const maxGrowth = 8;

/** @throws invalid_argument for text that is too long (also as clients get it), no JSON, or holds what clients cannot read back. */
export function parseDocument(document: string, partId: string): unknown {
  const bytes = Buffer.byteLength(document);
  requireAtMost(`configuration of part ${partId}`, maxDocumentBytes, bytes, ' bytes of JSON');
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
  if (bytes * maxGrowth > answerBytes) requireAnswerable(parsed, bytes);
  return parsed;
}

/** Else it could be saved, and read by nobody. @throws invalid_argument */
function requireAnswerable(parsed: unknown, bytes: number): void {
  // What is no object has no form as one; it is refused elsewhere.
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return;
  // GetRobotPart answers the document as an object and twice as text.
  const answer = structBytes(parsed as JsonObject) + 2 * bytes;
  if (answer <= answerBytes) return;
  throw new PlatformError(
    'invalid_argument',
    `configuration: expected one that fits into the messages of public clients (at most ${answerBytes} bytes in their encoding), found ${answer} (${bytes} of JSON)`,
  );
}
