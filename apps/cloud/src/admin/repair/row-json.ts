/** A row of the ingest log as JSON, to pass it between processes: bytes are in base64. */
import type { VerifiedRow } from '../../ingest/losses/row-checksums.ts';

export interface RowJson extends Pick<VerifiedRow, 'position' | 'partId' | 'seq'> {
  readonly stream: string;
  readonly sha256: string;
  readonly batch: string;
}

export function encodeRow({ position, partId, seq, stream, sha256, batch }: VerifiedRow): RowJson {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  return { position, partId, seq, stream: text(stream), sha256: text(sha256), batch: text(batch) };
}

export function decodeRow({ position, partId, seq, stream, sha256, batch }: RowJson): VerifiedRow {
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
  return { position, partId, seq, stream: bytes(stream), sha256: bytes(sha256), batch: bytes(batch) };
}
