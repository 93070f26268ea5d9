/**
 * How a restored installation continues, in either store.
 *
 * The log continues far beyond its last position. The original cloud has used the positions after it, and receivers already know the ids of
 * messages sent for those (I3, I11). The audit trail records the restore.
 */
import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { rowChecksums } from '../ingest/losses/row-checksums.ts';
import { skippedPositions } from '../ingest/losses/verify-rows.ts';
import { encodeUpload } from '../reading-codec/encode-upload.ts';
import type { Manifest } from './manifest.ts';

/** The position at which the log continues, which holds an empty upload. Positions are exact up to 2^53. */
export function resumePosition({ lastPosition }: Manifest): number {
  return lastPosition + skippedPositions;
}

/** The insertion of a log row with an empty upload. */
export function insertFiller(position: number, nowMs: number): Statement {
  const row = {
    ...{ position, partId: '', stream: new Uint8Array(randomBytes(16)), seq: 0, sha256: new Uint8Array(32) },
    batch: encodeUpload(
      { metadata: {}, place: {}, timeSynced: timestampFromMs(nowMs), fileId: 'restored-from-backup' },
      [],
    ),
  };
  const { head, batch } = rowChecksums(row);
  return {
    sql: 'insert into log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum) values (?, ?, ?, ?, ?, ?, ?, ?)',
    values: [position, row.partId, row.stream, row.seq, row.sha256, row.batch, head, batch],
  };
}

export interface Statement {
  /** Placeholders are `?`. */
  readonly sql: string;
  readonly values: readonly (string | number | Uint8Array)[];
}

/** Statements for the metadata. */
export function restoredEntry(manifest: Manifest, nowMs: number): readonly Statement[] {
  const what = JSON.stringify({
    backupCreatedMs: manifest.createdMs,
    restoredMs: nowMs,
    lastPosition: manifest.lastPosition,
  });
  return [
    {
      sql: "insert into instance_state (name, value) values ('restored', ?) on conflict (name) do update set value = excluded.value",
      values: [what],
    },
    {
      sql: `insert into audit_entries (at_ms, actor_kind, actor_id, actor_name, action, organization_id, target_kind, target_id, detail, peer_address)
       values (?, 'admin', '', '', 'admin.restore', null, 'installation', '', ?, '')`,
      values: [nowMs, what],
    },
  ];
}
