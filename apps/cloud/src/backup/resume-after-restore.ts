/**
 * How a restored installation continues, in either store.
 *
 * The log continues far behind its last position: the cloud that the backup was taken of has used the positions after it, and
 * messages that were sent for those have ids that receivers know already (I3, I11). The audit trail says that it was restored.
 */
import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { skippedPositions } from '../ingest/losses/verify-rows.ts';
import { encodeUpload } from '../reading-codec/encode-upload.ts';
import type { Manifest } from './manifest.ts';

/** Where the log continues; `filler` is there. Positions are exact up to 2^53. */
export function resumePosition({ lastPosition }: Manifest): number {
  return lastPosition + skippedPositions;
}

export interface LogFiller {
  readonly part: string;
  readonly stream: Uint8Array;
  readonly seq: number;
  readonly sha256: Uint8Array;
  readonly batch: Uint8Array;
}

/** A row of the log that holds an empty upload. */
export function filler(nowMs: number): LogFiller {
  return {
    part: '',
    stream: new Uint8Array(randomBytes(16)),
    seq: 0,
    sha256: new Uint8Array(32),
    batch: encodeUpload(
      { metadata: {}, place: {}, timeSynced: timestampFromMs(nowMs), fileId: 'restored-from-backup' },
      [],
    ),
  };
}

export interface Statement {
  /** Places are `?`. */
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Statements for the metadata; none where the restored version has no audit trail. */
export function restoredEntry(manifest: Manifest, nowMs: number): readonly Statement[] {
  if (manifest.metaVersion < 2) return [];
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
