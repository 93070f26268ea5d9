/** Decodes the text of a configuration. `check` validates its content. */
import type { JsonObject } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import { maxDocumentBytes, maxDocumentElements } from '@platform/machine-config/limits';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { requireFewElements } from '../../wire/few-elements.ts';
import { requireReadableJson } from '../../wire/readable-json.ts';
import { requireEachKeyOnce } from '../../wire/repeated-keys.ts';
import { answerBytes, structBytes } from '../../wire/struct-bytes.ts';

/** Maximum growth from text to a GetRobotPart answer: the worst case is a list of digits, where 2 bytes become 11. */
const maxGrowth = 8;

/**
 * @throws invalid_argument if the text is too long (also in the form that clients receive), is not JSON, or contains values that clients
 * cannot read back; resource_exhausted if it has too many elements.
 */
export function decodeDocument(document: string, partId: string): unknown {
  const bytes = Buffer.byteLength(document);
  requireAtMost(`configuration of part ${partId}`, maxDocumentBytes, bytes, ' bytes of JSON');
  requireFewElements(`configuration of part ${partId}`, document, maxDocumentElements);
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch (caught) {
    throw invalidArgument(
      `configuration: expected JSON: ${caught instanceof Error ? caught.message : String(caught)}`,
      caught,
    );
  }
  requireReadableJson(parsed, 'configuration');
  if (bytes * maxGrowth > answerBytes) requireAnswerable(parsed, bytes);
  return parsed;
}

/**
 * Decodes a text that is to be saved.
 * @throws invalid_argument like `decodeDocument`, and naming duplicate keys of an object, of which only the last one would be used
 */
export function parseDocument(document: string, partId: string): unknown {
  const parsed = decodeDocument(document, partId);
  requireEachKeyOnce(document, parsed, 'configuration');
  return parsed;
}

/** A document that fails this check could be saved, but no client could read it. @throws invalid_argument */
function requireAnswerable(parsed: unknown, bytes: number): void {
  // A document that is not an object has no message form; it is refused elsewhere.
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return;
  // GetRobotPart returns the document once as an object and twice as text.
  const answer = structBytes(parsed as JsonObject) + 2 * bytes;
  if (answer <= answerBytes) return;
  throw invalidArgument(
    `configuration: expected one that fits into the messages of public clients (at most ${answerBytes} bytes in their encoding), found ${answer} (${bytes} of JSON)`,
  );
}
